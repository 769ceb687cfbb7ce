package io.osier.spring;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings {@code osier.*}. Immutable.
 *
 * @param endpoints the datacenters: the name of each, and its address for clients as HOST:PORT;
 *     local=localhost:7400, where "osier server" listens, unless any is set
 * @param keyspace the keyspace of the bean Keyspace, and of the cache unless that names another
 * @param prefer the datacenter to use whenever it is up, such as the one of this region; otherwise
 *     the nearest that is up
 * @param name who connects, for the datacenters' logs; spring.application.name unless set
 * @param timeout how long a call may take, tries at other datacenters included
 * @param connectTimeout how long the opening of a connection may take
 * @param user the user to log in as; needs a password
 * @param password the user's password
 * @param tls how connections are secured
 * @param cache what is behind @Cacheable
 * @param session where the sessions of a web application are
 */
@ConfigurationProperties("osier")
public record OsierProperties(
    @DefaultValue Map<String, String> endpoints,
    @DefaultValue("default") String keyspace,
    @Nullable String prefer,
    @Nullable String name,
    @DefaultValue("10s") Duration timeout,
    @DefaultValue("3s") Duration connectTimeout,
    @Nullable String user,
    @Nullable String password,
    @DefaultValue Tls tls,
    @DefaultValue Cache cache,
    @DefaultValue Session session) {

  /** Without the password. */
  @Override
  public String toString() {
    return "OsierProperties[endpoints=" + endpoints + ", keyspace=" + keyspace + "]";
  }

  /**
   * How connections are secured; the files are in PEM form, and read again when they have changed.
   *
   * @param enabled whether TLS is spoken; so it is, too, if any other of these is set
   * @param authorities certificates of the authorities to trust, and no others; those of the Java
   *     runtime unless set
   * @param certificate the certificate to show where a datacenter asks for one; needs a key
   * @param key the certificate's private key: PKCS #8, not encrypted
   * @param anyHost whether a certificate is accepted whatever host it names
   */
  public record Tls(
      @DefaultValue("false") boolean enabled,
      @Nullable Path authorities,
      @Nullable Path certificate,
      @Nullable Path key,
      @DefaultValue("false") boolean anyHost) {}

  /**
   * What is behind @Cacheable.
   *
   * @param enabled whether Osier is the application's cache: if it enables caching and has no cache
   *     manager of its own
   * @param keyspace the keyspace of the caches; osier.keyspace unless set
   * @param prefix what the keys of all caches begin with
   * @param timeToLive how long what is put into a cache stays; for ever unless set
   * @param timeToLives the same for single caches, by their names
   */
  public record Cache(
      @DefaultValue("true") boolean enabled,
      @Nullable String keyspace,
      @DefaultValue("cache:") String prefix,
      @Nullable Duration timeToLive,
      @DefaultValue Map<String, Duration> timeToLives) {}

  /**
   * Where the sessions of a web application are.
   *
   * @param enabled whether they are in Osier; needs Spring Session
   * @param keyspace their keyspace; osier.keyspace unless set
   * @param prefix what their keys begin with
   * @param timeout how long a session stays that nobody uses; one that is negative for ever
   */
  public record Session(
      @DefaultValue("false") boolean enabled,
      @Nullable String keyspace,
      @DefaultValue("session:") String prefix,
      @DefaultValue("30m") Duration timeout) {}
}

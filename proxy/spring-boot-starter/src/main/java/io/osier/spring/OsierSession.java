package io.osier.spring;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.session.MapSession;
import org.springframework.session.Session;

/**
 * A session of a web application as it was read, with the changes since then. Not thread-safe: each
 * request has its own.
 */
public final class OsierSession implements Session {
  private final MapSession session;
  private final Set<String> changed = new HashSet<>();

  /** The id under which the session is stored; null if it is not stored yet. */
  private @Nullable String storedId;

  OsierSession(MapSession session, @Nullable String storedId) {
    this.session = session;
    this.storedId = storedId;
  }

  @Nullable String storedId() {
    return storedId;
  }

  /** Returns the attributes that were set or removed since the session was read or stored. */
  List<String> changed() {
    return List.copyOf(changed);
  }

  void stored() {
    changed.clear();
    storedId = getId();
  }

  @Override
  public String getId() {
    return session.getId();
  }

  @Override
  public String changeSessionId() {
    return session.changeSessionId();
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals") // Spring's interface has it so
  public <T> @Nullable T getAttribute(String attributeName) {
    return session.getAttribute(attributeName);
  }

  @Override
  public Set<String> getAttributeNames() {
    return session.getAttributeNames();
  }

  @Override
  public void setAttribute(String attributeName, @Nullable Object attributeValue) {
    session.setAttribute(attributeName, attributeValue);
    changed.add(attributeName);
  }

  @Override
  public void removeAttribute(String attributeName) {
    session.removeAttribute(attributeName);
    changed.add(attributeName);
  }

  @Override
  public Instant getCreationTime() {
    return session.getCreationTime();
  }

  @Override
  public void setLastAccessedTime(Instant lastAccessedTime) {
    session.setLastAccessedTime(lastAccessedTime);
  }

  @Override
  public Instant getLastAccessedTime() {
    return session.getLastAccessedTime();
  }

  @Override
  public void setMaxInactiveInterval(Duration interval) {
    session.setMaxInactiveInterval(interval);
  }

  @Override
  public Duration getMaxInactiveInterval() {
    return session.getMaxInactiveInterval();
  }

  @Override
  public boolean isExpired() {
    return session.isExpired();
  }
}

package io.osier.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Keyspace;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.session.SessionRepository;

/** A web application whose sessions are in a datacenter. */
final class SessionApplicationTest {
  private static final EmbeddedDatacenter EU = OneDatacenter.start();

  private final WebApplicationContextRunner app =
      new WebApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  OsierAutoConfiguration.class, OsierSessionAutoConfiguration.class))
          .withPropertyValues(
              OneDatacenter.endpoint(EU), "osier.session.enabled=true", "osier.keyspace=shop");

  record Cart(List<String> articles) implements Serializable {}

  @AfterAll
  static void close() {
    EU.close();
  }

  /** A request of a browser with such a cookie; gives the cookie that it has then. */
  private static @Nullable String request(
      ApplicationContext context, @Nullable String cookie, Consumer<HttpServletRequest> served)
      throws Exception {
    MockHttpServletRequest request = new MockHttpServletRequest();
    if (cookie != null) {
      request.setCookies(new jakarta.servlet.http.Cookie("SESSION", cookie));
    }
    MockHttpServletResponse response = new MockHttpServletResponse();
    context
        .getBean("springSessionRepositoryFilter", Filter.class)
        .doFilter(request, response, (q, r) -> served.accept((HttpServletRequest) q));
    var given = response.getCookie("SESSION");
    return given == null ? cookie : given.getValue();
  }

  private static OsierSessionRepository sessions(ApplicationContext context) {
    return context.getBean(OsierSessionRepository.class);
  }

  private static OsierSession stored(ApplicationContext context, Consumer<OsierSession> filled) {
    OsierSession session = sessions(context).createSession();
    filled.accept(session);
    sessions(context).save(session);
    return session;
  }

  private static OsierSession found(ApplicationContext context, OsierSession session) {
    return Objects.requireNonNull(sessions(context).findById(session.getId()));
  }

  @Test
  void session_isThereInTheNextRequest_untilItIsInvalidated() {
    app.run(
        context -> {
          Cart cart = new Cart(List.of("book"));
          String cookie = request(context, null, r -> r.getSession().setAttribute("cart", cart));
          assertThat(cookie).isNotNull();
          request(
              context,
              cookie,
              r -> {
                HttpSession session = r.getSession(false);
                assertThat(session.getAttribute("cart")).isEqualTo(cart);
                session.invalidate();
              });
          request(context, cookie, r -> assertThat(r.getSession(false)).isNull());
        });
  }

  @Test
  void newId_keepsWhatIsInTheSession_andTheFormerIdIsNone() {
    app.run(
        context -> {
          String cookie = request(context, null, r -> r.getSession().setAttribute("user", "ada"));
          String changed = request(context, cookie, r -> r.changeSessionId());
          assertThat(changed).isNotEqualTo(cookie);
          request(context, cookie, r -> assertThat(r.getSession(false)).isNull());
          request(
              context,
              changed,
              r -> assertThat(r.getSession(false).getAttribute("user")).isEqualTo("ada"));
        });
  }

  @Test
  void requestsAtOnce_changeOnlyTheirOwnAttributes() {
    app.run(
        context -> {
          OsierSession session =
              stored(
                  context,
                  s -> {
                    s.setAttribute("a", "old");
                    s.setAttribute("b", 1L);
                  });
          OsierSession first = found(context, session);
          OsierSession second = found(context, session);
          first.setAttribute("a", "new");
          second.removeAttribute("b");
          second.setAttribute("c", "more");
          sessions(context).save(first);
          sessions(context).save(second);
          OsierSession both = found(context, session);
          assertThat(both.<String>getAttribute("a")).isEqualTo("new");
          assertThat(both.getAttributeNames()).containsExactlyInAnyOrder("a", "c");
        });
  }

  @Test
  void deletedSession_doesNotComeBackByASaveOfAnotherRequest() {
    app.run(
        context -> {
          OsierSession session = stored(context, s -> s.setAttribute("user", "ada"));
          OsierSession under = found(context, session);
          sessions(context).deleteById(session.getId());
          under.setAttribute("page", "7");
          sessions(context).save(under);
          assertThat(sessions(context).findById(session.getId())).isNull();
        });
  }

  @Test
  void unusedSession_expires_alsoInTheStore() {
    app.withPropertyValues("osier.session.timeout=90s", "osier.session.prefix=s:")
        .run(
            context -> {
              OsierSession session = stored(context, s -> {});
              Keyspace shop = context.getBean(Keyspace.class);
              assertThat(shop.timeToLive("s:" + session.getId()))
                  .hasValueSatisfying(
                      left -> assertThat(left).isBetween(Duration.ZERO, Duration.ofSeconds(90)));
              session.setLastAccessedTime(session.getLastAccessedTime().minusSeconds(91));
              sessions(context).save(session);
              assertThat(sessions(context).findById(session.getId())).isNull();
              OsierSession lasting =
                  stored(context, s -> s.setMaxInactiveInterval(Duration.ofSeconds(-1)));
              assertThat(shop.timeToLive("s:" + lasting.getId())).isEmpty();
              OsierSession ending = stored(context, s -> {});
              ending.setMaxInactiveInterval(Duration.ofSeconds(-1));
              sessions(context).save(ending);
              assertThat(shop.timeToLive("s:" + ending.getId())).isEmpty();
              assertThat(found(context, lasting).getMaxInactiveInterval()).isNegative();
            });
  }

  @Test
  void sessions_areTheServersOwn_unlessAskedFor() {
    app.withPropertyValues("osier.session.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(SessionRepository.class));
  }
}

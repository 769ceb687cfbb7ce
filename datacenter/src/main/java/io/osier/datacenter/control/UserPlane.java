package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.UserCommand;
import io.osier.datacenter.access.UserRecords;
import io.osier.datacenter.access.UserView;
import io.osier.protocol.AdminRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The control plane's part for users. Used by the control plane's thread. */
final class UserPlane {
  private static final Logger LOG = LoggerFactory.getLogger(UserPlane.class);

  private final String dc;
  private final ControlObjects objects;
  private final LongSupplier millis;
  private final ControlHost host;

  private UserRecords users = UserRecords.NONE;
  private long lastMillis;

  UserPlane(String dc, ControlObjects objects, LongSupplier millis, ControlHost host) {
    this.dc = dc;
    this.objects = objects;
    this.millis = millis;
    this.host = host;
  }

  /** Takes the present users. */
  void take(Reading.Fields object) {
    users = new UserRecords(object);
    if (users.isInForce()) {
      host.users(users.users());
    }
  }

  /** If nobody may change users any more, puts the configuration's users back that are gone. */
  void letIn() {
    if (!users.isLockedOut()) {
      return;
    }
    List<Operation> operations = users.initial(host.configuredUsers(), author("configuration"));
    if (!operations.isEmpty()) {
      LOG.warn(
          "no user has the right to change users any more; the configuration's users are created"
              + " again");
      try {
        objects.change(UserRecords.OBJECT, operations);
      } catch (OsierException e) {
        LOG.warn("that failed: {}", e.reason());
      }
    }
  }

  private UserRecords.Author author(String by) {
    lastMillis = Math.max(lastMillis + 1, millis.getAsLong());
    return new UserRecords.Author(
        by + "@" + dc, lastMillis, UUID.randomUUID().getMostSignificantBits());
  }

  /** Removes the remains of users who were dropped. */
  void tell() {
    objects.tell(UserRecords.OBJECT, users.cleaning(), "the removal of dropped users' remains");
  }

  /** Executes an operator's command. */
  List<UserView> administer(AdminRequest.Administer request, String by) {
    if (request.action().equals("list")) {
      if (!request.settings().isEmpty()) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "user list takes no settings, but " + request.settings().keySet() + " were given");
      }
      return views();
    }
    UserCommand command = UserCommand.parse(request.action(), request.name(), request.settings());
    List<User> configuredUsers = host.configuredUsers();
    if (!users.isInForce() && !configuredUsers.isEmpty()) {
      // From now on the configuration's users do not count by themselves, so they are added.
      objects.change(UserRecords.OBJECT, users.initial(configuredUsers, author("configuration")));
      objects.map(UserRecords.OBJECT).ifPresent(this::take);
    }
    objects.change(UserRecords.OBJECT, users.operations(command, author(by)));
    return List.of();
  }

  List<UserView> views() {
    List<UserView> views = new ArrayList<>();
    boolean fromFile = !users.isInForce() && !host.configuredUsers().isEmpty();
    for (User user : fromFile ? host.configuredUsers() : users.users().all()) {
      views.add(
          new UserView(
              user.name(),
              user.credential().isPresent(),
              user.grants(),
              fromFile,
              users.madeBy(user.name()).orElse(""),
              users.madeAtMillis(user.name()).orElse(0L)));
    }
    return views;
  }
}

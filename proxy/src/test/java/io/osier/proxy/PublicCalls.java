package io.osier.proxy;

import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The client's public methods, and what they can be called with. */
final class PublicCalls {
  private PublicCalls() {}

  /** The methods of an object of a class, those of its superclasses included. */
  static List<Method> methods(Class<?> of) {
    return Arrays.stream(of.getMethods())
        .filter(m -> m.getDeclaringClass() != Object.class && !Modifier.isStatic(m.getModifiers()))
        .map(m -> m.isSynthetic() ? written(m) : Optional.of(m))
        .flatMap(Optional::stream)
        .toList();
  }

  /**
   * The method of a superclass that is not public, for which the compiler has made one in the
   * public class; empty for what it has made for other reasons.
   */
  private static Optional<Method> written(Method made) {
    for (Class<?> of = made.getDeclaringClass(); of != null; of = of.getSuperclass()) {
      for (Method method : of.getDeclaredMethods()) {
        if (!Modifier.isPublic(of.getModifiers())
            && !method.isSynthetic()
            && method.getName().equals(made.getName())
            && Arrays.equals(method.getParameterTypes(), made.getParameterTypes())) {
          return Optional.of(method);
        }
      }
    }
    return Optional.empty();
  }

  /** The names of a method's parameters' types, as they are for objects of a class. */
  static List<String> types(Class<?> of, Method method) {
    Map<Type, Type> known = new HashMap<>();
    for (Class<?> at = of; at != null; at = at.getSuperclass()) {
      if (at.getGenericSuperclass() instanceof ParameterizedType generic) {
        Type[] variables = at.getSuperclass().getTypeParameters();
        for (int i = 0; i < variables.length; i++) {
          Type argument = generic.getActualTypeArguments()[i];
          known.put(variables[i], known.getOrDefault(argument, argument));
        }
      }
    }
    return Arrays.stream(method.getGenericParameterTypes())
        .map(type -> known.getOrDefault(type, type).getTypeName())
        .toList();
  }

  /** Something to call a method with; null if this knows nothing of the type. */
  static @Nullable Object argument(String type, OsierClient client) {
    return switch (type) {
      case "long", "int" -> 1;
      case "boolean" -> true;
      case "java.lang.String" -> "k";
      case "char[]" -> "a password".toCharArray();
      case "java.lang.String[]" -> new String[] {"v"};
      case "E[]" -> new String[] {"v"};
      case "E", "T", "java.lang.Object", "B" -> "v";
      case "io.osier.core.Key" -> Key.of("k");
      case "io.osier.core.Value" -> Value.of("v");
      case "io.osier.core.Grant" -> Grant.parse("read *");
      case "io.osier.crdt.CrdtType" -> CrdtType.PN_COUNTER;
      case "io.osier.protocol.Call$When" -> Call.When.NONE;
      case "io.osier.crdt.Operation" -> new Operation.Increment(1);
      case "io.osier.crdt.Query" -> new Query.Whole();
      case "io.osier.protocol.Request$Ask" -> new Request.Ask(false, new Query.Whole());
      case "io.osier.protocol.Request$Condition" ->
          new Request.Condition(List.of(), new Query.Whole(), new Reading.Count(0));
      case "io.osier.proxy.Range<E>",
          "io.osier.proxy.Range<io.osier.core.Value>",
          "io.osier.proxy.Range<java.lang.String>" ->
          Range.all();
      case "io.osier.proxy.SetHandle" -> client.session().keyspace("shop").set("other");
      case "io.osier.proxy.Scan" -> Scan.all();
      case "io.osier.proxy.TransactionOptions" -> TransactionOptions.DEFAULT;
      case "java.time.Duration" -> Duration.ofMinutes(1);
      case "java.time.Instant" -> Instant.EPOCH.plusSeconds(9_000_000_000L);
      case "java.util.Collection<? extends E>",
          "java.util.Collection<java.lang.String>",
          "java.util.List<java.lang.String>" ->
          List.of("v");
      case "java.util.List<io.osier.core.Value>" -> List.of(Value.of("v"));
      case "java.util.List<io.osier.core.Grant>" -> List.of(Grant.parse("read *"));
      case "java.util.List<io.osier.crdt.Operation$FieldUpdate>" ->
          List.of(
              new Operation.FieldUpdate(
                  new FieldId("f", CrdtType.PN_COUNTER), new Operation.Increment(1)));
      case "java.util.List<io.osier.proxy.Keyspace$Change>" ->
          List.of(new Keyspace.Change("k", CrdtType.PN_COUNTER, new Operation.Increment(1)));
      case "java.util.List<io.osier.proxy.Keyspace$Get>" ->
          List.of(new Keyspace.Get("k", CrdtType.PN_COUNTER));
      case "java.util.Map<java.lang.String, java.lang.String>" -> Map.of();
      case "java.util.Optional<char[]>" -> Optional.empty();
      case "java.util.Optional<io.osier.core.Key>" -> Optional.of(Key.of("k"));
      case "java.util.Optional<io.osier.crdt.CrdtType>" -> Optional.of(CrdtType.PN_COUNTER);
      case "java.util.function.UnaryOperator<R>",
          "java.util.function.UnaryOperator<io.osier.proxy.KeyspaceOptions>" ->
          UnaryOperator.identity();
      case "java.util.function.Consumer<io.osier.proxy.Batch>" ->
          (Consumer<Batch>) batch -> batch.counter("k").increment();
      case "io.osier.core.Grant[]" -> new Grant[] {Grant.parse("read *")};
      default -> null;
    };
  }
}

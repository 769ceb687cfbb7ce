package io.osier.bench.sim.transport;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Sabotages of connections, and of who is let in. */
final class TransportSabotages {
  private TransportSabotages() {}

  static Sabotage denying() {
    return new Sabotage() {
      @Override
      public boolean forgetsWhatLeft() {
        return true;
      }
    };
  }

  /** Now and then an answer is the one that had this number on a former connection. */
  static Sabotage confusing() {
    return new Sabotage() {
      private final Map<Object, Map<Long, Envelope<Reply>>> former = new HashMap<>();
      private int changed;

      @Override
      public byte[] answers(Object way, byte[] bytes) {
        Map<Long, Envelope<Reply>> first = former.computeIfAbsent(way, w -> new HashMap<>());
        return eachFrame(
            bytes,
            answer -> {
              Envelope<Reply> before = first.putIfAbsent(answer.id(), answer);
              return answer.id() > 0 && before != null && ++changed % 10 == 0 ? before : answer;
            });
      }
    };
  }

  static Sabotage unheard() {
    return new Sabotage() {
      @Override
      public byte[] answers(Object way, byte[] bytes) {
        return eachFrame(bytes, answer -> answer.message() instanceof Reply.Pong ? null : answer);
      }
    };
  }

  /** What was written, with other frames, or without some; as it is where not all are whole. */
  private static byte[] eachFrame(
      byte[] bytes, Function<Envelope<Reply>, @Nullable Envelope<Reply>> change) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      while (in.remaining() > Integer.BYTES) {
        int length = in.getInt();
        if (length > in.remaining()) {
          return bytes; // a part of a frame, whose bytes are no length
        }
        byte[] frame = new byte[length];
        in.get(frame);
        Envelope<Reply> answer = change.apply(ProtocolCodec.decodeReply(frame));
        if (answer != null) {
          byte[] other = ProtocolCodec.encode(answer.id(), answer.message());
          out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(other.length).array());
          out.writeBytes(other);
        }
      }
    } catch (MalformedException | BufferUnderflowException | NegativeArraySizeException e) {
      return bytes; // a part of a frame
    }
    return in.hasRemaining() ? bytes : out.toByteArray();
  }

  static Sabotage trusting() {
    return new Sabotage() {
      @Override
      public Users users(Users users) {
        List<User> all = new ArrayList<>(users.all());
        all.add(new User(Users.DEFAULT, Optional.empty(), all.getFirst().grants()));
        return new Users(all);
      }
    };
  }

  static Sabotage gullible() {
    return new Sabotage() {
      @Override
      public Users users(Users users) {
        List<User> all = new ArrayList<>(users.all());
        all.replaceAll(
            user ->
                user.name().equals(SimUsers.WRONGED)
                    ? new User(user.name(), Optional.of(SimUsers.wrong()), user.grants())
                    : user);
        return new Users(all);
      }
    };
  }

  static Sabotage mute() {
    return new Sabotage() {
      private static final int SIGN_BYTES_MAX = 8;

      @Override
      public boolean carries(boolean takesTurns, byte[] bytes) {
        return takesTurns || bytes.length > SIGN_BYTES_MAX;
      }
    };
  }

  static Sabotage deaf() {
    return new Sabotage() {
      @Override
      public boolean losesWhatIsApart() {
        return true;
      }
    };
  }
}

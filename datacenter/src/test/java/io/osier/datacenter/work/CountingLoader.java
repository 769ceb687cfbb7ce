package io.osier.datacenter.work;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Loads Osier's classes, and Kryo's, with a call to {@link Steps} at each method's beginning, at
 * each jump backwards and at each copy of an array. So no loop can be forgotten, and the code that
 * is shipped knows nothing of it. Encodings of objects' contents are counted, too.
 */
final class CountingLoader extends ClassLoader {
  private static final String STEPS = Steps.class.getName().replace('.', '/');
  private static final List<String> COUNTED = List.of("io.osier.", "com.esotericsoftware.kryo.");

  CountingLoader() {
    super(CountingLoader.class.getClassLoader());
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      boolean counted = COUNTED.stream().anyMatch(name::startsWith);
      if (!counted || name.equals(Steps.class.getName())) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      new ClassReader(in.readAllBytes()).accept(new Counted(out), 0);
      byte[] bytes = out.toByteArray();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Where an object's content is turned into bytes. */
  private static final Set<String> ENCODINGS =
      Set.of("io/osier/crdt/state/StateCodec.encode", "io/osier/crdt/state/StateCodec.write");

  private static final class Counted extends ClassVisitor {
    private String type;

    Counted(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visit(
        int version, int access, String name, String signature, String base, String[] interfaces) {
      type = name;
      super.visit(version, access, name, signature, base, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      return new CountedMethod(
          super.visitMethod(access, name, descriptor, signature, exceptions),
          ENCODINGS.contains(type + "." + name));
    }
  }

  private static final class CountedMethod extends MethodVisitor {
    private final Set<Label> passed = new HashSet<>();
    private final boolean encodes;

    CountedMethod(MethodVisitor next, boolean encodes) {
      super(Opcodes.ASM9, next);
      this.encodes = encodes;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      step();
      if (encodes) {
        super.visitMethodInsn(Opcodes.INVOKESTATIC, STEPS, "encoding", "()V", false);
      }
    }

    @Override
    public void visitLabel(Label label) {
      passed.add(label);
      super.visitLabel(label);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
      if (passed.contains(label)) {
        step();
      }
      super.visitJumpInsn(opcode, label);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      if (owner.equals("java/lang/System") && name.equals("arraycopy")) {
        super.visitInsn(Opcodes.DUP); // the length
        super.visitMethodInsn(Opcodes.INVOKESTATIC, STEPS, "steps", "(I)V", false);
      }
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    private void step() {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, STEPS, "step", "()V", false);
    }
  }
}

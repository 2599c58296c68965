package io.fasterkv.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.constant.ClassDesc;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/**
 * Tests that the jar for Flink's {@code lib} folder has all classes of the project and nothing
 * else.
 */
class OneJarIT {
  private static final String OURS = "io/fasterkv/";
  private static final String CLASS = ".class";

  @Test
  void hasOnlyOurClasses() throws IOException {
    assertThat(names())
        .allMatch(name -> name.startsWith(OURS) || name.startsWith("META-INF/"))
        .doesNotHaveDuplicates();
  }

  @Test
  void hasStoreAndBackend() throws IOException {
    assertThat(names())
        .contains(
            "io/fasterkv/FasterStore.class",
            "io/fasterkv/flink/FasterStateBackendFactory.class",
            "io/fasterkv/flink/backend/FasterKeyedStateBackend.class");
  }

  @Test
  void namesNoModule() throws IOException {
    assertThat(names()).noneMatch(name -> name.endsWith("module-info.class"));
  }

  @Test
  void hasLicenseAndNotice() throws IOException {
    try (JarFile jar = new JarFile(OneJar.path().toFile())) {
      assertThat(text(jar, "META-INF/LICENSE")).contains("Apache License");
      assertThat(text(jar, "META-INF/NOTICE")).contains("FASTER for Java");
    }
  }

  /** Our classes target one version of Java, so the jar must not be a multi-release jar. */
  @Test
  void hasClassesOfOneVersionOnly() throws IOException {
    assertThat(names()).noneMatch(name -> name.startsWith("META-INF/versions/"));
  }

  @Test
  void findsAllThatItsClassesNameOnFlinksClassPath() throws IOException {
    Set<String> missing = new TreeSet<>();
    try (URLClassLoader flink =
            OneJar.loader(OneJar.flink(), ClassLoader.getPlatformClassLoader());
        URLClassLoader ours = OneJar.loader(List.of(OneJar.path()), flink);
        JarFile jar = new JarFile(OneJar.path().toFile())) {
      for (String name : names()) {
        if (name.endsWith(CLASS)) {
          for (String needed : namedBy(jar, name)) {
            if (!isFound(needed, ours)) {
              missing.add(needed + ", named by " + name);
            }
          }
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void itsClassesCanBeLinkedOnFlinksClassPath() throws Exception {
    try (URLClassLoader flink =
            OneJar.loader(OneJar.flink(), ClassLoader.getPlatformClassLoader());
        URLClassLoader ours = OneJar.loader(List.of(OneJar.path()), flink)) {
      for (String name : names()) {
        if (name.endsWith(CLASS)) {
          Class<?> type =
              Class.forName(
                  name.substring(0, name.length() - CLASS.length()).replace('/', '.'), false, ours);
          assertThat(type.getClassLoader()).isSameAs(ours);
          assertThat(type.getDeclaredMethods()).as(name).isNotNull();
          assertThat(type.getDeclaredFields()).as(name).isNotNull();
        }
      }
    }
  }

  private static Set<String> namedBy(JarFile jar, String name) throws IOException {
    byte[] bytes = jar.getInputStream(jar.getEntry(name)).readAllBytes();
    Set<String> classes = new TreeSet<>();
    for (PoolEntry entry : ClassFile.of().parse(bytes).constantPool()) {
      if (entry instanceof ClassEntry type) {
        ClassDesc desc = type.asSymbol();
        while (desc.isArray()) {
          desc = desc.componentType();
        }
        if (!desc.isPrimitive()) {
          String descriptor = desc.descriptorString();
          classes.add(descriptor.substring(1, descriptor.length() - 1).replace('/', '.'));
        }
      }
    }
    return classes;
  }

  private static boolean isFound(String name, ClassLoader loader) {
    try {
      Class.forName(name, false, loader);
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }

  private static List<String> names() throws IOException {
    try (JarFile jar = new JarFile(OneJar.path().toFile())) {
      return new ArrayList<>(
          jar.stream().filter(entry -> !entry.isDirectory()).map(JarEntry::getName).toList());
    }
  }

  private static String text(JarFile jar, String name) throws IOException {
    return new String(jar.getInputStream(jar.getEntry(name)).readAllBytes());
  }
}

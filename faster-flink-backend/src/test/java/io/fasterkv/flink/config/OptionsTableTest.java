package io.fasterkv.flink.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.DocumentedTable;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import org.junit.jupiter.api.Test;

/**
 * Tests that there are few options, and that the documentation lists all of them with their types.
 */
class OptionsTableTest {
  private static final int MOST_OPTIONS = 12;

  /** An option with its type. */
  private record Documented(String type, ConfigOption<?> option) {
    String line() {
      return "| `"
          + option.key()
          + "` | "
          + value()
          + " | "
          + type
          + " | "
          + new HtmlFormatter().format(option.description())
          + " |";
    }

    private String value() {
      if (!option.hasDefaultValue()) {
        return "(none)";
      }
      String value = String.valueOf(option.defaultValue());
      return option.defaultValue() instanceof Enum<?> ? value.toLowerCase(Locale.ROOT) : value;
    }
  }

  @Test
  void areInTheDocumentation() throws Exception {
    List<String> lines = new ArrayList<>();
    lines.add("| option | default | type | |");
    lines.add("| --- | --- | --- | --- |");
    options().forEach(each -> lines.add(each.line()));
    DocumentedTable.check("options", lines);
  }

  @Test
  void areAtMostTwelveWithAPrefixAndADescription() throws Exception {
    assertThat(options())
        .hasSizeBetween(1, MOST_OPTIONS)
        .allSatisfy(each -> {
          assertThat(each.option().key()).startsWith("state.backend.faster.");
          assertThat(new HtmlFormatter().format(each.option().description())).isNotBlank();
        });
  }

  private static List<Documented> options() throws IllegalAccessException {
    List<Documented> options = new ArrayList<>();
    for (Field field : FasterOptions.class.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == ConfigOption.class) {
        options.add(new Documented(type(field), (ConfigOption<?>) field.get(null)));
      }
    }
    options.sort(Comparator.comparing(each -> each.option().key()));
    return options;
  }

  /**
   * The type as a user would name it: {@code MemorySize}, {@code List of String}, or all values.
   */
  private static String type(Field field) {
    Type type = ((ParameterizedType) field.getGenericType()).getActualTypeArguments()[0];
    if (type instanceof Class<?> choice && choice.isEnum()) {
      return Stream.of(choice.getEnumConstants())
          .map(value -> value.toString().toLowerCase(Locale.ROOT))
          .collect(Collectors.joining(" or "));
    }
    return type.getTypeName()
        .replaceAll("[a-z.]+\\.([A-Z])", "$1")
        .replace("<", " of ")
        .replace(">", "");
  }
}

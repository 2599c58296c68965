package io.fasterkv.demo.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.demo.text.InputPlan;
import io.fasterkv.demo.text.SomeText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextEnumeratorTest {
  @TempDir private Path directory;
  private InputPlan plan;
  private RunControl control;
  private final List<TextSplit> assigned = new ArrayList<>();

  @BeforeEach
  void setUp() throws IOException {
    SomeText.files(directory, 6, 5);
    plan = InputPlan.of(directory, Long.MAX_VALUE);
    control = new RunControl("TextEnumeratorTest", plan);
  }

  @AfterEach
  void tearDown() {
    control.close();
  }

  @Test
  void handsOutTheEarliestSplitThatIsLeft() {
    TextEnumerator enumerator = enumerator(new PlanPosition(0, List.of()));
    for (int i = 0; i < 4; i++) {
      enumerator.handleSplitRequest(i % 2, null);
    }
    enumerator.addSplitsBack(List.of(assigned.get(3), assigned.get(1)), 1);
    assigned.clear();

    for (int i = 0; i < 3; i++) {
      enumerator.handleSplitRequest(0, null);
    }

    assertThat(ordinals()).containsExactly(1, 3, 4);
  }

  @Test
  void theSerializedPositionContinuesWhereItWas() throws IOException {
    TextEnumerator before = enumerator(new PlanPosition(0, List.of()));
    for (int i = 0; i < 4; i++) {
      before.handleSplitRequest(0, null);
    }
    before.addSplitsBack(List.of(assigned.get(2)), 0);
    assigned.clear();
    PlanPosition.Serializer serializer = new PlanPosition.Serializer();
    byte[] bytes = serializer.serialize(before.snapshotState(1));

    TextEnumerator after = enumerator(serializer.deserialize(serializer.getVersion(), bytes));
    for (int i = 0; i < 3; i++) {
      after.handleSplitRequest(0, null);
    }

    assertThat(ordinals()).containsExactly(2, 4, 5);
  }

  @Test
  void aSplitSurvivesSerialization() throws IOException {
    TextSplitSerializer serializer = new TextSplitSerializer();
    TextSplit split = new TextSplit(plan.ranges().get(3), 4);

    byte[] bytes = serializer.serialize(split);

    assertThat(serializer.deserialize(serializer.getVersion(), bytes)).isEqualTo(split);
    assertThatThrownBy(() -> serializer.deserialize(9, bytes))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version=9, allowed=1");
  }

  private List<Integer> ordinals() {
    return assigned.stream().map(split -> split.range().ordinal()).toList();
  }

  @SuppressWarnings("unchecked") // a proxy of a generic interface
  private TextEnumerator enumerator(PlanPosition position) {
    SplitEnumeratorContext<TextSplit> context =
        Fakes.context(
            SplitEnumeratorContext.class,
            "assignSplit",
            arguments -> assigned.add((TextSplit) arguments[0]));
    return new TextEnumerator(context, plan.ranges(), control, position);
  }
}

package io.fasterkv.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {
  @Test
  void numbersStandToTheRightAndWordsToTheLeft() {
    TextTable table = new TextTable("store", "Mops");
    table.add("faster", "12.50");
    table.add("chm", "1.20");

    assertThat(table.toString().lines())
        .containsExactly("store    Mops", "faster  12.50", "chm      1.20");
  }

  @Test
  void aRowHasAsManyCellsAsTheTable() {
    assertThatThrownBy(() -> new TextTable("store", "Mops").add("faster"))
        .hasMessageContaining("cells=1, allowed=2");
  }

  @Test
  void aMedianIsTheMiddleOrBetweenTheTwoInTheMiddle() {
    assertThat(Spread.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(2, 1, 3));
    assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 3.0))).isEqualTo(new Spread(2.5, 1, 4));
    assertThatThrownBy(() -> Spread.of(List.of())).hasMessageContaining("measured=0");
  }
}

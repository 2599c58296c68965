package io.fasterkv.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinePlotTest {
  @TempDir private Path directory;

  @Test
  void aPlotIsAPictureAndItsData() throws IOException {
    LinePlot plot = new LinePlot("title", "s", "operations, all");
    plot.add("one", List.of(0.0, 0.5), List.of(1.0, 2.0));
    plot.add("two", List.of(0.0), List.of(3.25));
    plot.mark(0.25);

    plot.write(directory.resolve("new"), "figure");

    assertThat(Files.readAllLines(directory.resolve("new/figure.csv")))
        .containsExactly(
            "series,s,\"operations, all\"",
            "one,0.00000,1.00000",
            "one,0.500000,2.00000",
            "two,0.00000,3.25000");
    BufferedImage image = ImageIO.read(directory.resolve("new/figure.png").toFile());
    assertThat(image.getWidth()).isEqualTo(Plots.WIDTH);
    assertThat(image.getHeight()).isEqualTo(Plots.HEIGHT);
  }

  @Test
  void aLineWithoutPointsIsRefused() {
    LinePlot plot = new LinePlot("title", "s", "operations");

    assertThatThrownBy(() -> plot.add("none", List.of(), List.of())).hasMessageContaining("x=0");
    assertThatThrownBy(() -> plot.add("odd", List.of(1.0), List.of(1.0, 2.0)))
        .hasMessageContaining("x=1, y=2");
  }
}

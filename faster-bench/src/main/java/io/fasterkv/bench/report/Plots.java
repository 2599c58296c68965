package io.fasterkv.bench.report;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.IChart;

/** Draws charts to PNG files, without a screen. */
final class Plots {
  static final int WIDTH = 1000;
  static final int HEIGHT = 560;

  static {
    System.setProperty("java.awt.headless", "true");
  }

  private Plots() {}

  /** Writes a PNG; makes the directory when it is missing. */
  static void write(IChart chart, Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      ImageIO.write(BitmapEncoder.getBufferedImage(chart), "png", out);
    } catch (RuntimeException | LinkageError | InternalError e) {
      // The JDK draws text with the system's fonts, which small installations do not have.
      Files.deleteIfExists(file);
      throw new IOException(
          "a plot cannot be drawn: file="
              + file
              + ", cause="
              + e
              + "; its data is in the CSV beside it. Where there are no fonts: apt-get install -y"
              + " fontconfig fonts-dejavu-core",
          e);
    }
  }

  static XYChartBuilder lines(String title, String xTitle, String yTitle) {
    return new XYChartBuilder()
        .width(WIDTH)
        .height(HEIGHT)
        .title(title)
        .xAxisTitle(xTitle)
        .yAxisTitle(yTitle);
  }
}

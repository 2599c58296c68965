package io.fasterkv.device.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests that blocks are cut at multiples of their size, and that stretches are assigned once, in
 * order.
 */
class FillOrderTest {
  private static final int BLOCK = 1024;

  private record File(List<LogPiece> pieces) implements LogOrigin.File {
    @Override
    public int blockBytes() {
      return BLOCK;
    }

    @Override
    public int blockCrc(int piece, int block) {
      return 100 * piece + block;
    }

    @Override
    public boolean hasDigest() {
      return false;
    }

    @Override
    public void readDigest(LogOrigin.DigestVisitor visitor) {}

    @Override
    public void read(long address, MemorySegment target) {}

    @Override
    public String place(long address) {
      return "address=" + address;
    }
  }

  private static LazyRestoreBlocks blocks(File... files) {
    return new LazyRestoreBlocks(
        new LogOrigin() {
          @Override
          public List<File> files() {
            return List.of(files);
          }

          @Override
          public void close() {}
        });
  }

  private static File file(long... cuts) {
    List<LogPiece> pieces = new ArrayList<>();
    for (int i = 1; i < cuts.length; i++) {
      pieces.add(new LogPiece(cuts[i - 1], cuts[i], 0));
    }
    return new File(pieces);
  }

  @Test
  void blocksEndAtPiecesAndAtMultiplesOfTheirSize() {
    LazyRestoreBlocks blocks = blocks(file(512, 4096, 4608), file(4608, 8192));
    List<Long> froms = new ArrayList<>();
    for (int block = 0; block < blocks.count(); block++) {
      froms.add(blocks.from(block));
      assertThat(blocks.until(block))
          .isEqualTo(block + 1 < blocks.count() ? blocks.from(block + 1) : 8192);
      assertThat(blocks.at(blocks.from(block))).isEqualTo(block);
      assertThat(blocks.at(blocks.until(block) - 1)).isEqualTo(block);
    }
    assertThat(froms).containsExactly(512L, 1024L, 2048L, 3072L, 4096L, 4608L, 5120L, 6144L, 7168L);
    assertThat(blocks.at(0)).isZero();
    assertThat(blocks.crc(3)).isEqualTo(3);
    assertThat(blocks.crc(4)).isEqualTo(100);
    assertThat(blocks.crc(8)).isEqualTo(3);
    assertThat(blocks.endOfPiece(0)).isEqualTo(4);
    assertThat(blocks.endOfFile(0)).isEqualTo(5);
    assertThat(blocks.endOfFile(6)).isEqualTo(9);
  }

  @Test
  void bytesAreMissingUntilAllBlocksAreHere() {
    LazyRestoreBlocks blocks = blocks(file(512, 4096, 4608), file(4608, 8192));
    assertThat(blocks.missingBytes()).isEqualTo(8192 - 512);
    blocks.setLocal(1);
    blocks.setLocal(1);
    assertThat(blocks.missingBytes()).isEqualTo(8192 - 512 - 1024);
    assertThat(blocks.areLocal(1024, 1024)).isTrue();
    assertThat(blocks.areLocal(1023, 1024)).isFalse();
    assertThat(blocks.areLocal(0, 512)).isTrue();
    assertThat(blocks.areLocal(8192, 512)).isTrue();
    blocks.giveUpBelow(4608);
    assertThat(blocks.areLocal(0, 4608)).isTrue();
    assertThat(blocks.areLocal(4608, 1)).isFalse();
    assertThat(blocks.isWhole()).isFalse();
    blocks.giveUpBelow(1 << 20);
    assertThat(blocks.isWhole()).isTrue();
    assertThat(blocks.missingBytes()).isZero();
  }

  @Test
  void missedStretchesComeFirstAndThenTheNewest() {
    LazyRestoreBlocks blocks = blocks(file(0, 4096, 8192), file(8192, 12_288, 14_336));
    FillOrder order = new FillOrder(blocks, 4096);
    assertThat(order.count()).isEqualTo(4);
    assertThat(order.next()).isEqualTo(3);
    order.missed(blocks.at(100));
    order.missed(blocks.at(200));
    order.missed(blocks.at(13_000));
    assertThat(order.next()).isZero();
    assertThat(order.next()).isEqualTo(2);
    assertThat(order.next()).isEqualTo(1);
    assertThat(order.next()).isEqualTo(FillOrder.NONE);
    assertThat(order.next()).isEqualTo(FillOrder.NONE);
    order.missed(blocks.at(100));
    assertThat(order.next()).isEqualTo(FillOrder.NONE);
  }

  @Test
  void missedStretchesComeFirstThenTheHottestThenTheNewest() {
    long mib = 1 << 20;
    long[] cuts = new long[25];
    for (int i = 0; i < cuts.length; i++) {
      cuts[i] = i * mib;
    }
    LazyRestoreBlocks blocks = blocks(file(cuts));
    FillOrder order = new FillOrder(blocks, 4 * mib);
    assertThat(order.count()).isEqualTo(6);
    int[] heats = {0, 7, 0, 9, 7, 0};
    order.sort(address -> heats[(int) (address / (4 * mib))]);
    assertThat(order.next()).isEqualTo(3);
    order.missed(blocks.at(mib));
    assertThat(order.next()).isZero();
    assertThat(order.next()).isEqualTo(4);
    assertThat(order.next()).isEqualTo(1);
    assertThat(order.next()).isEqualTo(5);
    assertThat(order.next()).isEqualTo(2);
    assertThat(order.next()).isEqualTo(FillOrder.NONE);
  }

  @Test
  void stretchesAreAllOfTheLogAndEachIsInOneFile() {
    LazyRestoreBlocks blocks = blocks(file(0, 4096, 8192), file(8192, 12_288, 14_336));
    for (long bytes : new long[] {1, 1024, 3000, 1 << 20}) {
      FillOrder order = new FillOrder(blocks, bytes);
      assertThat(order.first(0)).isZero();
      for (int stretch = 0; stretch < order.count(); stretch++) {
        assertThat(order.end(stretch)).isGreaterThan(order.first(stretch));
        assertThat(order.end(stretch)).isLessThanOrEqualTo(blocks.endOfFile(order.first(stretch)));
      }
      assertThat(order.end(order.count() - 1)).isEqualTo(blocks.count());
    }
  }
}

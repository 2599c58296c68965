package io.fasterkv.operation;

import io.fasterkv.api.KeyHash;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.HashIndex;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.record.RecordLayout;

/**
 * What all operations of a store work on; the only place where index and log meet.
 *
 * @param layout the shape of the store's records
 */
public record Engine(
    Epochs epochs,
    HashIndex index,
    HybridLog log,
    RecordLayout layout,
    KeyHash keyHash,
    BufferPool buffers) {}

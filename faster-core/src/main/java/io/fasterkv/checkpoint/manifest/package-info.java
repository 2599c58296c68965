/**
 * What a checkpoint consists of and how its files are named, written and checked: the manifest, its
 * blocks and rules.
 */
@NullMarked
package io.fasterkv.checkpoint.manifest;

import org.jspecify.annotations.NullMarked;

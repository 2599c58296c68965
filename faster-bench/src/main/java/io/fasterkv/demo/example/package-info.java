/**
 * The example to copy: a Flink job over words, with every kind of keyed state. It uses only Flink.
 */
@NullMarked
package io.fasterkv.demo.example;

import org.jspecify.annotations.NullMarked;

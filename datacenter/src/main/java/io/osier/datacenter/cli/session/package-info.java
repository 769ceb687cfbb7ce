/**
 * What {@code osier cli} understands: the grammar of one line, its completion, how readings and
 * tables are printed, and {@code top}. It speaks to a datacenter only through the client library.
 */
@NullMarked
package io.osier.datacenter.cli.session;

import org.jspecify.annotations.NullMarked;

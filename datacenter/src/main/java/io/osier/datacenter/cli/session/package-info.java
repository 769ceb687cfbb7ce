/**
 * The session of {@code osier cli}: the grammar of one line, its completion, the rendering of
 * readings and tables, and {@code top}. It talks to a datacenter only through the client library.
 */
@NullMarked
package io.osier.datacenter.cli.session;

import org.jspecify.annotations.NullMarked;

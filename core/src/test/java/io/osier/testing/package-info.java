/** Helpers that the tests of all modules share. */
@NullMarked
package io.osier.testing;

import org.jspecify.annotations.NullMarked;

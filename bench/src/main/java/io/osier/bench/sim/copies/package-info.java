/**
 * Read copies: production's, of what others hold ({@code SimCopies}), and what holders tell of what
 * is held here ({@code SimFollowed}).
 */
@NullMarked
package io.osier.bench.sim.copies;

import org.jspecify.annotations.NullMarked;

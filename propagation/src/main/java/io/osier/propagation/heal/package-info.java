/**
 * What is missing although its origin has shipped it, or will not: fetched from third datacenters
 * ({@code Healer}) and given to them ({@code Answers}, {@code RelayLog}), and compared after a loss
 * ({@code Verifier}).
 */
@NullMarked
package io.osier.propagation.heal;

import org.jspecify.annotations.NullMarked;

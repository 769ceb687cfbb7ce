/**
 * What is missing although its origin has shipped it, or never will: fetched from third datacenters
 * ({@code Repairer}), given to them ({@code RepairAnswers}, {@code RelayLog}), and compared after a
 * loss ({@code Verifier}).
 */
@NullMarked
package io.osier.propagation.repair;

import org.jspecify.annotations.NullMarked;

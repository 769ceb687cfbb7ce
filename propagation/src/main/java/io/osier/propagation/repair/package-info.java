/**
 * Recovers updates that do not come from their origin: fetches them from third datacenters ({@code
 * Repairer}), answers those that ask ({@code RepairAnswers}, {@code RelayLog}), and compares with
 * the peers after a loss ({@code Verifier}).
 */
@NullMarked
package io.osier.propagation.repair;

import org.jspecify.annotations.NullMarked;

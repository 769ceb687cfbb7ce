/**
 * Internal: transactions: the order of their steps, what happens to the updates of a failed step,
 * and scans of their snapshots. {@code call} decides how a step is sent again. No part of the API.
 */
@NullMarked
package io.osier.proxy.transaction;

import org.jspecify.annotations.NullMarked;

/**
 * Internal: transactions: how their steps follow each other, what becomes of the updates of one
 * that failed, and what their snapshot shows. How a step is sent again, {@code call} decides. No
 * part of the API.
 */
@NullMarked
package io.osier.proxy.transaction;

import org.jspecify.annotations.NullMarked;

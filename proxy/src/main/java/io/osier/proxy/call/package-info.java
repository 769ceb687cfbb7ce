/**
 * Internal: one call of a session, from its arguments to its outcome. It decides whether the call
 * is sent at all, at which datacenters it is tried and until when, and which of the three outcomes
 * the caller is told; batches and programs are calls, too. It knows no handles. No part of the API.
 */
@NullMarked
package io.osier.proxy.call;

import org.jspecify.annotations.NullMarked;

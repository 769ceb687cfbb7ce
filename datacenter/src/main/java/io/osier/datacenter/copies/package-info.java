/**
 * Read copies: single objects of keyspaces that others hold, in memory where they are read often.
 * {@link io.osier.datacenter.copies.Copies} counts what is read and answers from copies; {@link
 * io.osier.datacenter.copies.Followers} tells, at a holder, what has become of the objects. A copy
 * is nobody's replica: it never ships, forgets, repairs or decides.
 */
@NullMarked
package io.osier.datacenter.copies;

import org.jspecify.annotations.NullMarked;

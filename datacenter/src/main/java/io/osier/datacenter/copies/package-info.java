/**
 * Read copies: single objects of keyspaces that others hold, in memory where they are read often.
 * {@link io.osier.datacenter.copies.Copies} counts reads and answers them from copies; {@link
 * io.osier.datacenter.copies.Followers} tells the changes of the objects at a holder. A copy is no
 * replica: it never ships, forgets, repairs or decides.
 */
@NullMarked
package io.osier.datacenter.copies;

import org.jspecify.annotations.NullMarked;

/**
 * Requests for keyspaces that others hold: which datacenter is asked, which requests are in flight
 * there, and what each holder has shown each connection. The decisions are pure; {@link Forwarder}
 * locks around it, and is given what it needs of the network and of time.
 */
@NullMarked
package io.osier.datacenter.forward;

import org.jspecify.annotations.NullMarked;

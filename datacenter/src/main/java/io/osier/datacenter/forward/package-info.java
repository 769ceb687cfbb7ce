/**
 * Requests for keyspaces that others hold: which datacenter is asked, what is under way there, and
 * what each connection was shown by whom. What decides is pure; {@link Forwarder} locks around it,
 * and is given what it needs of the network and of time.
 */
@NullMarked
package io.osier.datacenter.forward;

import org.jspecify.annotations.NullMarked;

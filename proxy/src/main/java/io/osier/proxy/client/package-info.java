/**
 * Internal: what a client consists of: its settings, its connections, how many calls may be under
 * way, who hears of them, and its end. It knows no session and no call. No part of the API.
 */
@NullMarked
package io.osier.proxy.client;

import org.jspecify.annotations.NullMarked;

/**
 * Internal: what datacenters answer to an administrator, read from their JSON. It knows nothing of
 * how it was asked for. No part of the API.
 */
@NullMarked
package io.osier.proxy.admin;

import org.jspecify.annotations.NullMarked;

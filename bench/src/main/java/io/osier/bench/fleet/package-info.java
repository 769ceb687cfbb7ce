/**
 * Programs beside datacenters that others have started, as in docker-compose.yml: the wide-area
 * network between them, and a load that keeps account.
 */
@NullMarked
package io.osier.bench.fleet;

import org.jspecify.annotations.NullMarked;

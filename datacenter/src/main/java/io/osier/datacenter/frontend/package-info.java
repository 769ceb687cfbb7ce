/**
 * Clients' connections: greeting, login, rights, quotas, requests in order and their replies, and
 * what was slow. It hands requests to {@code shard} and knows no partition's inside.
 */
@NullMarked
package io.osier.datacenter.frontend;

import org.jspecify.annotations.NullMarked;

/** What the client library costs, beside a plain echo of the same bytes. */
@NullMarked
package io.osier.bench.client;

import org.jspecify.annotations.NullMarked;

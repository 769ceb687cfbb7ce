/** What the client library costs, beside a plain echo of the same bytes. */
package io.osier.bench.client;

/** A datacenter inside an application's own process, called through the client's API. */
@NullMarked
package io.osier.datacenter.embedded;

import org.jspecify.annotations.NullMarked;

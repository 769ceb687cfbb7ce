/** A datacenter inside an application's own process, called through the client's API. */
package io.osier.datacenter.embedded;

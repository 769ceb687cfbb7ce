/** Reads and checks the configuration. */
package io.osier.datacenter.config;

/** The command line of a datacenter: {@code osier server} and {@code osier cli}. */
package io.osier.datacenter.cli;

/** What operators are told of datacenters and keyspaces. */
@NullMarked
package io.osier.datacenter.control.view;

import org.jspecify.annotations.NullMarked;

/** The store port and its adapters. */
package io.osier.datacenter.store;

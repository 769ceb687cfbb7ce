package io.osier.bench.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.proxy.OsierClient;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;

/**
 * The holders of all keyspaces, as one datacenter reports them.
 *
 * @param states by keyspace and holder, the holder's state: "holds", or what it waits for
 * @param allActive whether all keyspaces take updates
 */
public record Holdings(SortedMap<String, SortedMap<String, String>> states, boolean allActive) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Returns the holders as a client's datacenter reports them now.
   *
   * @throws CompletionException if the datacenter does not answer
   */
  public static Holdings of(OsierClient client) {
    SortedMap<String, SortedMap<String, String>> states = new TreeMap<>();
    boolean allActive = true;
    try {
      for (JsonNode keyspace :
          JSON.readTree(client.admin().listKeyspacesAsync().join()).path("keyspaces")) {
        allActive &= keyspace.path("state").asText().equals("active");
        SortedMap<String, String> holders = new TreeMap<>();
        keyspace
            .path("holders")
            .forEach(h -> holders.put(h.path("dc").asText(), h.path("state").asText()));
        states.put(keyspace.path("name").asText(), holders);
      }
    } catch (JsonProcessingException e) {
      throw new CompletionException("the list of keyspaces is not JSON", e);
    }
    return new Holdings(states, allActive);
  }

  /** Returns whether a datacenter has all of a keyspace and serves it. */
  public boolean holds(String keyspace, String dc) {
    SortedMap<String, String> holders = states.get(keyspace);
    return holders != null && "holds".equals(holders.get(dc));
  }

  /** Returns the datacenters that hold a keyspace, are to hold it, or give it up; sorted. */
  public List<String> holders(String keyspace) {
    return List.copyOf(states.getOrDefault(keyspace, new TreeMap<>()).keySet());
  }

  /** Returns whether all keyspaces take updates and no holder comes or goes. */
  public boolean isWell() {
    return allActive
        && states.values().stream().allMatch(h -> h.values().stream().allMatch("holds"::equals));
  }
}

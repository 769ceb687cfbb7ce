# One datacenter. Build the project first (mvn -B -DskipTests package), then: docker compose up
# BASE_IMAGE is any image with a Java runtime of version 21 or newer.
ARG BASE_IMAGE=eclipse-temurin:25-jre
FROM ${BASE_IMAGE}
COPY bench/target/osier-bench-0.1.0-SNAPSHOT.jar /opt/osier/
COPY bench/target/lib /opt/osier/lib
VOLUME /var/lib/osier
EXPOSE 7400 7401 7402
ENTRYPOINT ["java", "--enable-native-access=ALL-UNNAMED", "-cp", "/opt/osier/*:/opt/osier/lib/*", "io.osier.bench.Main"]
CMD ["server", "--config", "/etc/osier/osier.conf"]

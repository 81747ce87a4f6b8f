# Recollect in one image: docker build -t recollect . && docker run -p 127.0.0.1:20128:20128 -v recollect:/data recollect
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY studio ./studio
COPY docs ./docs
# The conformance cases of `recollect/testing` are bundled from the tests.
COPY test/conformance ./test/conformance
COPY test/fakes ./test/fakes
COPY test/support ./test/support
# The image comes with the optional packages for PostgreSQL and encryption.
RUN npm run build && npm run docs:build && npm prune --omit=dev && \
    npm install --omit=dev --no-save --save-prod --no-audit --no-fund pg better-sqlite3-multiple-ciphers

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    RECOLLECT_DATA=/data \
    RECOLLECT_HOST=0.0.0.0 \
    RECOLLECT_PORT=20128
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/dist-studio ./dist-studio
COPY --from=build /app/dist-docs ./dist-docs
COPY package.json README.md ARCHITECTURE.md CONTRIBUTING.md LICENSE THIRD_PARTY.md ./
COPY spec ./spec
COPY models ./models
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 20128
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:20128/health/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/app/cli-main.js"]
CMD ["serve"]

/** The user of the image, who owns nothing but the folder of the data. */
export const imageUser = { name: "switchyard", uid: 65532, gid: 65532 };

const health =
  "fetch('http://127.0.0.1:' + process.env.SERVICE_SERVER_HTTP_ADDR.split(':').at(-1) + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))";

/** How a container starts, in the form of an OCI image. deploy/Containerfile says the same. */
export const imageConfig = {
  User: `${imageUser.uid}:${imageUser.gid}`,
  ExposedPorts: { "8080/tcp": {}, "9090/tcp": {}, "50051/tcp": {}, "50052/tcp": {} },
  Env: [
    "PATH=/usr/bin:/bin",
    // What Node has compiled is stored under the home folder, so that later starts are faster.
    "HOME=/data",
    "NODE_ENV=production",
    "SERVICE_DATA_DIR=/data",
    "SERVICE_SERVER_HTTP_ADDR=0.0.0.0:8080",
    "SERVICE_SERVER_GRPC_ADDR=0.0.0.0:50051",
    "SERVICE_SERVER_METRICS_ADDR=0.0.0.0:9090",
    "SERVICE_SERVER_INTERNAL_ADDR=127.0.0.1:8081",
  ],
  Entrypoint: ["/usr/bin/node", "--max-semi-space-size=32", "/app/service.mjs"],
  Cmd: ["serve"],
  Volumes: { "/data": {} },
  WorkingDir: "/data",
  StopSignal: "SIGTERM",
  // Not part of the OCI specification; engines that follow Docker's format use it. The image has no shell and no curl.
  Healthcheck: {
    Test: ["CMD", "/usr/bin/node", "-e", health],
    Interval: 10e9,
    Timeout: 3e9,
    StartPeriod: 60e9,
    Retries: 3,
  },
};

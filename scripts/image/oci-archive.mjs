// Writes an image as an OCI archive: https://github.com/opencontainers/image-spec. The same files give the same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { imageUser } from "./image-config.ts";
import { run } from "./run.mjs";

const types = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
};
const architecture = { x64: "amd64" }[process.arch] ?? process.arch;

/** Writes the files in `root` and the configuration as an archive. `manifest` is the package.json of the packed service. */
export function writeArchive({ file, root, work, config, manifest }) {
  const layout = join(work, "layout");
  mkdirSync(join(layout, "blobs/sha256"), { recursive: true });
  const addBlob = (mediaType, content) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const digest = digestOf(bytes);
    writeFileSync(join(layout, "blobs", digest.replace(":", "/")), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  // A new release of the service on the same Node replaces only the second layer.
  const base = readdirSync(root).filter((name) => name !== "app" && name !== "data" && name !== "tmp");
  const layers = [tarOf(root, work, base, ["data", "tmp"]), tarOf(root, work, ["app"])];
  const created = new Date(mtimeS() * 1000).toISOString();
  const labels = labelsOf(manifest, created);
  const image = addBlob(types.config, {
    created,
    architecture,
    os: "linux",
    config: { ...config, Labels: labels },
    rootfs: { type: "layers", diff_ids: layers.map(digestOf) },
    history: ["Node and its libraries", "Switchyard"].map((comment) => ({ created, comment })),
  });
  const described = addBlob(types.manifest, {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: image,
    layers: layers.map((layer) => addBlob(types.layer, gzipSync(layer))),
    annotations: labels,
  });
  const name = `${manifest.name}:${manifest.version}`;
  const index = {
    ...described,
    platform: { architecture, os: "linux" },
    annotations: { "org.opencontainers.image.ref.name": name },
  };
  writeJson(join(layout, "oci-layout"), { imageLayoutVersion: "1.0.0" });
  writeJson(join(layout, "index.json"), { schemaVersion: 2, mediaType: types.index, manifests: [index] });
  tar(["-cf", file, ...sameEverywhere(), "-C", layout, "oci-layout", "index.json", "blobs"]);
}

/** Packs folders of the root as root's files, and the others as they are: a folder of the image's user, and one for all users. */
function tarOf(root, work, folders, others = []) {
  const file = join(work, "layer.tar");
  tar(["-cf", file, ...sameEverywhere(), "--mode=u=rwX,go=rX", "-C", root, ...folders]);
  for (const folder of others) {
    const { uid, gid } = folder === "data" ? imageUser : { uid: 0, gid: 0 };
    tar(["-rf", file, ...sameEverywhere(uid, gid), "-C", root, folder]);
  }
  return readFileSync(file);
}

function sameEverywhere(uid = 0, gid = 0) {
  return [
    "--format=ustar",
    "--sort=name",
    "--numeric-owner",
    `--owner=${uid}`,
    `--group=${gid}`,
    `--mtime=@${mtimeS()}`,
  ];
}

function tar(args) {
  run("tar", args);
}

function labelsOf({ version, description, license, build, repository }, created) {
  return {
    "org.opencontainers.image.title": "Switchyard",
    "org.opencontainers.image.description": description,
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": build.commit,
    "org.opencontainers.image.created": created,
    "org.opencontainers.image.licenses": license,
    ...(repository && { "org.opencontainers.image.source": repository.url.replace(/^git\+|\.git$/g, "") }),
  };
}

function mtimeS() {
  return Number(process.env.SOURCE_DATE_EPOCH);
}

function digestOf(bytes) {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function writeJson(file, value) {
  writeFileSync(file, JSON.stringify(value));
}

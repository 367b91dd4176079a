#include "waymark/shard/scripts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "waymark/base/escape.h"

namespace waymark::shard {
namespace {

/// One word of a shell.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// Shared by the tasks of all engines: each does its lines of shards.txt.
std::string task_script(const Folder& folder, const ScriptOptions& options) {
  return fmt::format(
      R"(#!/bin/sh
# task.sh TASK TASKS: does the lines TASK, TASK + TASKS and so on of shards.txt, counted from 0.
# A supervisor: it survives when a worker is killed, and the exit code says whether to try again.
# 75: try again. Else: the greatest exit code of `waymark shard`.
waymark={}
dir={}
line=$1
worst=0
worker=
trap 'test -n "$worker" && kill -TERM "$worker" 2>/dev/null; wait; exit 75' TERM USR1
while :; do
  shard=$(sed -n "$((line + 1))p" "$dir/scripts/shards.txt")
  test -n "$shard" || break
  # In the background, so that a signal is seen at once.
  "$waymark" shard "$dir" "$shard" &
  worker=$!
  wait "$worker"
  code=$?
  worker=
  # A signal, a full disk, no memory: another attempt may succeed.
  if [ "$code" -gt 128 ] || [ "$code" = 4 ] || [ "$code" = 5 ]; then code=75; fi
  if [ "$code" -gt "$worst" ]; then worst=$code; fi
  line=$((line + $2))
done
exit "$worst"
)",
      shell_word(options.program), shell_word(folder.path()));
}

std::string merge_script(const Folder& folder, const ScriptOptions& options) {
  return fmt::format("#!/bin/sh\nexec {} merge {} -o {}\n", shell_word(options.program),
                     shell_word(folder.path()), shell_word(options.result));
}

/// Slurm does not requeue a task whose worker was killed: the task asks for another run, and the
/// merge waits for the end of all tasks, however they end.
std::string slurm_task(const Folder& folder, std::size_t tasks) {
  return fmt::format(
      R"(#!/bin/sh
# One task of the array. Slurm does not requeue a task whose process was killed, so this does.
dir={}
supervisor=
trap 'kill -TERM "$supervisor" 2>/dev/null' USR1
"$dir/scripts/task.sh" "$SLURM_ARRAY_TASK_ID" {} &
supervisor=$!
wait "$supervisor"
code=$?
# A signal ends `wait` early.
if kill -0 "$supervisor" 2>/dev/null; then wait "$supervisor"; code=$?; fi
if [ "$code" = 75 ] || [ "$code" -gt 128 ]; then
  if [ "${{SLURM_RESTART_COUNT:-0}}" -lt 4 ]; then
    scontrol requeue "$SLURM_JOB_ID"
    # Slurm ends this script soon.
    sleep 60
  fi
fi
exit "$code"
)",
      shell_word(folder.path()), tasks);
}

std::string slurm_submit(const Folder& folder, std::size_t tasks) {
  return fmt::format(
      R"(#!/bin/sh
# Submits the array, and the merge that follows it. Arguments go to sbatch, such as --time=60.
set -e
dir={}
array=$(sbatch --parsable --requeue --open-mode=append --array=0-{} --signal=B:USR1@60 \
  -o "$dir/scripts/slurm_%a.log" "$@" "$dir/scripts/slurm_task.sh")
merge=$(sbatch --parsable --dependency="afterany:${{array%%;*}}" --open-mode=append \
  -o "$dir/scripts/slurm_merge.log" "$dir/scripts/merge.sh")
echo "array ${{array%%;*}}, merge ${{merge%%;*}}"
)",
      shell_word(folder.path()), tasks - 1);
}

std::string parallel_script(const Folder& folder, const ScriptOptions& options) {
  return fmt::format(
      R"(#!/bin/sh
# Arguments go to GNU parallel: -j 8, or -S 8/host1,8/host2.
dir={}
parallel --will-cite --retries 3 "$@" {} shard "'$dir'" {{}} < "$dir/scripts/shards.txt"
exec "$dir/scripts/merge.sh"
)",
      shell_word(folder.path()), shell_word(options.program));
}

/// A string of YAML, in which JSON's escapes hold.
std::string yaml_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string kubernetes_manifest(const Folder& folder, const ScriptOptions& /*options*/,
                                std::size_t tasks) {
  return fmt::format(
      R"(# Edit the image, which must have waymark, and the volume with the folder of the job, the captures
# and the programs. Then: kubectl apply -f kubernetes.yaml. Afterwards, run merge.sh in the same image.
apiVersion: batch/v1
kind: Job
metadata:
  name: waymark-{}
spec:
  completions: {}
  parallelism: {}
  completionMode: Indexed
  backoffLimit: {}
  template:
    spec:
      restartPolicy: OnFailure
      containers:
        - name: shard
          image: waymark
          command: ["/bin/sh", "-c"]
          args: ['exec "$0" "$JOB_COMPLETION_INDEX" {}', {}]
          volumeMounts:
            - name: captures
              mountPath: {}
      volumes:
        - name: captures
          persistentVolumeClaim:
            claimName: captures
)",
      hex_of(folder.job()).substr(0, 12), tasks, std::min<std::size_t>(tasks, 64), 4 * tasks, tasks,
      yaml_text(folder.path() + "/scripts/task.sh"), yaml_text(folder.plan().folder));
}

/// Paths with characters that have a meaning in make or ninja are refused where they are written.
bool is_plain(std::string_view path) {
  return path.find_first_of(" $#:%'\"\\\t\n=*?[]|;&<>()") == std::string_view::npos;
}

std::string makefile(const Folder& folder, const ScriptOptions& options,
                     std::span<const std::size_t> shards) {
  std::string text = fmt::format(".PHONY: all\nall: {}\n{}:", options.result, options.result);
  for (const std::size_t shard : shards) text += " \\\n  " + folder.part_path(shard);
  text += fmt::format("\n\t{} merge {} -o {}\n", options.program, folder.path(), options.result);
  for (const std::size_t shard : shards) {
    text += fmt::format("{}:\n\t{} shard {} {}\n", folder.part_path(shard), options.program,
                        folder.path(), shard);
  }
  return text;
}

std::string ninja_file(const Folder& folder, const ScriptOptions& options,
                       std::span<const std::size_t> shards) {
  std::string text = fmt::format(
      "rule shard\n  command = {0} shard {1} $n\n  restat = 1\nrule merge\n  command = {0} merge "
      "{1} "
      "-o $out\n",
      options.program, folder.path());
  std::string parts;
  for (const std::size_t shard : shards) {
    text += fmt::format("build {}: shard\n  n = {}\n", folder.part_path(shard), shard);
    parts += " $\n  " + folder.part_path(shard);
  }
  return text + fmt::format("build {}: merge{}\n", options.result, parts);
}

/// Replaces the script: unlike the rest of the folder, scripts are made again.
Result<void> write_script(const Folder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.path() + "/scripts/" + name;
  std::error_code failed;
  std::filesystem::create_directories(folder.path() + "/scripts", failed);
  std::filesystem::remove(path, failed);
  const auto written = publish(fmt::format("{}.{}", path, ::getpid()), path, text);
  if (!written) return std::unexpected(written.error());
  if (name.ends_with(".sh")) {
    using std::filesystem::perms;
    std::filesystem::permissions(path, perms::owner_exec | perms::group_exec | perms::others_exec,
                                 std::filesystem::perm_options::add, failed);
  }
  return {};
}

}  // namespace

Result<std::string> write_scripts(const Folder& folder, std::string_view engine,
                                  const ScriptOptions& options) {
  const std::vector<std::size_t> shards = folder.status().missing;
  if (shards.empty()) return std::string("All shards are done; only the merge is left.");
  const std::size_t tasks = std::min<std::size_t>(shards.size(), std::max(options.tasks, 1U));
  std::string list;
  for (const std::size_t shard : shards) list += fmt::format("{}\n", shard);
  WAYMARK_TRY(write_script(folder, "shards.txt", list));
  WAYMARK_TRY(write_script(folder, "task.sh", task_script(folder, options)));
  WAYMARK_TRY(write_script(folder, "merge.sh", merge_script(folder, options)));
  const std::string place = escaped(folder.path()) + "/scripts/";
  if (engine == "slurm") {
    WAYMARK_TRY(write_script(folder, "slurm_task.sh", slurm_task(folder, tasks)));
    WAYMARK_TRY(write_script(folder, "slurm_submit.sh", slurm_submit(folder, tasks)));
    return "Submit with:  " + place + "slurm_submit.sh";
  }
  if (engine == "parallel") {
    WAYMARK_TRY(write_script(folder, "parallel.sh", parallel_script(folder, options)));
    return "Start with:  " + place + "parallel.sh -j 8";
  }
  if (engine == "kubernetes") {
    WAYMARK_TRY(
        write_script(folder, "kubernetes.yaml", kubernetes_manifest(folder, options, tasks)));
    return "Edit " + place + "kubernetes.yaml, and apply it with kubectl.";
  }
  if (!is_plain(folder.path()) || !is_plain(options.program) || !is_plain(options.result)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: make and ninja cannot handle paths with spaces or special "
                            "characters; plan into a folder without them.",
                            escaped(folder.path())));
  }
  if (engine == "make") {
    WAYMARK_TRY(write_script(folder, "Makefile", makefile(folder, options, shards)));
    return "Start with:  make -j 8 -f " + place + "Makefile";
  }
  WAYMARK_TRY(write_script(folder, "build.ninja", ninja_file(folder, options, shards)));
  return "Start with:  ninja -k 0 -f " + place + "build.ninja";
}

}  // namespace waymark::shard

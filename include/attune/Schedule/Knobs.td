// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tunable, declared once, and the sets of them that kinds of ops have.
// From a record here come the field of the set's attribute, the option of
// attune-set-schedule, the domain the search walks, the column of the database
// key and the line in the docs.
//
// Adding a tunable: add a record, add it to the sets that have it, and make the
// one pass that obeys it read the field from the op's schedule.

#ifndef ATTUNE_SCHEDULE_KNOBS_TD
#define ATTUNE_SCHEDULE_KNOBS_TD

include "mlir/IR/EnumAttr.td"

// cpp:       name of the field, camelBack
// arg:       spelling in pass options, in the database and on the command line
// valueType: its type in C++
// init:      value where nothing is said
// searched:  values the search enumerates
// asked:     further values, which the search enumerates only where it is asked
//            for them (--only), lest the space grow by all their products
// names:     how values are spelled that have names: value i is names[i]
class KnobBase<string cppName, string argName, string text> {
  string cpp = cppName;
  string arg = argName;
  string valueType = "int64_t";
  int init = 0;
  list<int> searched = [];
  list<int> asked = [];
  // What the verifier admits.
  list<int> domain = !listconcat(searched, asked);
  list<string> names = [];
  string doc = text;
}

// A tunable that is a number.
class Knob<string cppName, string argName, int dflt, list<int> dom, string text, list<int> more = []>
    : KnobBase<cppName, argName, text> {
  let init = dflt;
  let searched = dom;
  let asked = more;
}

// A tunable whose values have names: an enum class `type` in C++, of which the
// first value is the default. `more` names those that are only asked for.
class EnumKnob<string cppName, string argName, string type, list<I32EnumCase> values, string text, list<string> more = [],
               string dflt = !head(values).str>
    : KnobBase<cppName, argName, text>, I32Enum<type, text, values> {
  let cppNamespace = "::attune::schedule";
  let valueType = "::attune::schedule::" # type;
  let init = !foldl(0, values, found, v, !if(!eq(v.str, dflt), v.value, found));
  let names = !foreach(v, values, v.str);
  let asked = !foldl([]<int>, values, found, v, !if(!foldl(false, more, is, m, !or(is, !eq(m, v.str))), !listconcat(found, [v.value]), found));
  let searched = !foldl([]<int>, values, found, v, !if(!foldl(false, more, is, m, !or(is, !eq(m, v.str))), found, !listconcat(found, [v.value])));
}

// A size of a problem that may be dynamic, and the option that then gives it.
class ProblemSize<string optionName, string text> {
  string name = optionName;
  string doc = text;
}

// The tunables of a kind of op: the attribute #schedule.<name>.
class KnobSet<string setName, string className, list<KnobBase> members, list<ProblemSize> problemSizes, string text> {
  string name = setName;
  string cpp = className;
  list<KnobBase> knobs = members;
  list<ProblemSize> sizes = problemSizes;
  string doc = text;
}

//===----------------------------------------------------------------------===//
// Tunables that several sets may have
//===----------------------------------------------------------------------===//

def Knob_NumWarps : Knob<"numWarps", "num-warps", 4, [1, 2, 4, 8, 12, 16],
  "Warps (waves) of one workgroup that compute; rows are divided among them evenly.">;
def Knob_MmaWarps : Knob<"mmaWarps", "mma-warps", 1, [1, 4],
  "Warps that issue a matrix instruction together: 1, or 4 where the chip multiplies by warpgroups.">;
def Knob_ProducerWarps : Knob<"producerWarps", "producer-warps", 0, [0, 1, 4],
  "Warps of their own that copy into shared memory; 0 lets the computing warps do it. Four or eight can hand registers over to the others, and half of them transpose or widen what comes, where that is to be done.", [8]>;
def Knob_Unroll : Knob<"unroll", "unroll", 1, [1],
  "Key blocks visited by one iteration of the main loop, the body of which is repeated so often.", [2, 4]>;
def Knob_Persistent : EnumKnob<"persistent", "persistent", "Persistent",
  [I32EnumCase<"None", 0, "none">, I32EnumCase<"Static", 1, "static">, I32EnumCase<"Dynamic", 2, "dynamic">],
  "Whether as many workgroups are launched as the chip holds, each of which computes one tile after the other: static gives each every n-th tile, dynamic the one that a work counter says is next.">;
def Knob_WorkgroupsPerSm : Knob<"workgroupsPerSm", "workgroups-per-sm", 1, [1, 2, 3, 4],
  "Workgroups that must fit on one SM at a time; bounds the registers of a thread.">;
def Knob_StrengthReduction : Knob<"strengthReduction", "strength-reduction", 0, [0],
  "1 lets LLVM give loops counters of their own for what follows from theirs (loop strength reduction), 0 leaves that to the assembler, whose order of instructions hangs on it. For chips of NVIDIA; others have those counters with either.", [1]>;
def Knob_Assembler : EnumKnob<"assembler", "assembler", "Assembler",
  [I32EnumCase<"Thorough", 0, "thorough">, I32EnumCase<"Sparing", 1, "sparing">, I32EnumCase<"Plain", 2, "plain">],
  "How the chip's assembler works: `thorough` with all of its optimizations, `sparing` without those that take registers (ptxas --register-usage-level=0), `plain` with few of them, so that instructions stay more in the order that they are given in (ptxas -O1 --register-usage-level=0). Loops of large tiles are up to 6 percent faster or slower by it, and where one spills another may not. For chips of NVIDIA, where `ptxas` is found; others have one way.", ["sparing", "plain"]>;
def Knob_Cluster : Knob<"cluster", "cluster", 1, [1, 2],
  "Workgroups of one cluster, which take neighbouring query tiles of a head and share what they load of its keys and values.">;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def Knob_BlockM : Knob<"blockM", "block-m", 128, [16, 32, 64, 96, 128, 192, 256],
  "Query rows owned by one workgroup.">;
def Knob_BlockN : Knob<"blockN", "block-n", 64, [16, 32, 48, 64, 80, 96, 112, 128, 160, 176, 192, 256],
  "Key rows visited by one step of the main loop.", [224]>;
def Knob_QStages : Knob<"qStages", "q-stages", 1, [1, 2],
  "Slots of the shared-memory ring that holds query tiles; a second one serves persistent workgroups alone.">;
def Knob_KStages : Knob<"kStages", "k-stages", 2, [1, 2, 3, 4],
  "Slots of the shared-memory ring that holds key blocks.">;
def Knob_VStages : Knob<"vStages", "v-stages", 2, [1, 2, 3, 4],
  "Slots of the shared-memory ring that holds value blocks.">;
def Knob_QInRegisters : Knob<"qInRegisters", "q-in-registers", 1, [0, 1],
  "1 keeps the query tile in registers for the whole loop, 0 reads it from shared memory at each step. What stays is multiplied as f16 where it is bf16 and keys have fewer bits.">;
def Knob_PInRegisters : Knob<"pInRegisters", "p-in-registers", 1, [1],
  "1 multiplies the softmax's weights from registers, 0 writes them to shared memory and multiplies them from there.", [0]>;
def Knob_OInShared : EnumKnob<"oInShared", "o-in-shared", "OutputPath",
  [I32EnumCase<"Registers", 0, "registers">, I32EnumCase<"QuerySlot", 1, "query-slot">, I32EnumCase<"Buffer", 2, "buffer">],
  "How the output leaves: threads store it from registers, or the copy engine stores it from shared memory, from the query block's slot or from a buffer of its own.", ["query-slot", "buffer"]>;
def Knob_Overlap : EnumKnob<"overlap", "overlap", "Overlap",
  [I32EnumCase<"None", 0, "none">, I32EnumCase<"Softmax", 1, "softmax">, I32EnumCase<"PingPong", 2, "ping-pong">],
  "What runs under a warpgroup's MMAs: nothing, the softmax of the next block, or also that of another warpgroup, in ping-pong. Where warps multiply alone, they alternate in halves of a workgroup.">;
def Knob_Rescale : Knob<"rescale", "rescale", 0, [0, 8],
  "How far, in powers of two, scores may grow beyond the number that is subtracted from those of their row before the warp rescales the output: 0 rescales at each step, 8 seldom.">;
def Knob_RescaleLate : Knob<"rescaleLate", "rescale-late", 0, [0],
  "When a step of an overlapped loop rescales the output: 0 as soon as the MMA into it is done, 1 right before the next one, under the first MMA of the next block.", [1]>;
def Knob_LateKeys : Knob<"lateKeys", "late-keys", 0, [0, 32],
  "Keys at the end of a block whose values are multiplied behind the row maxima of the next block: warps that issue MMAs wait until the matrix unit takes the next one, so they compute those maxima while the MMAs before run. In ping-pong, where each step rescales the output.", [16, 48, 64]>;
def Knob_ExpOnFma : Knob<"expOnFma", "exp-on-fma", 0, [0, 2, 4],
  "Sixteenths of the softmax's exponentials that are polynomials, computed by multiplies and adds beside those of the special function unit.">;
def Knob_MmaSchedule : EnumKnob<"mmaSchedule", "mma-schedule", "MmaSchedule",
  [I32EnumCase<"None", 0, "none">, I32EnumCase<"Priority", 1, "priority">, I32EnumCase<"Groups", 2, "groups">],
  "How the MMAs of single warps are issued, where a chip can be told: by what the compiler finds, with priority over other warps of the scheduler (s_setprio), or in groups of an MMA with reads of shared memory and other instructions beside it (sched_group_barrier).">;
def Knob_SplitMasked : Knob<"splitMasked", "split-masked", 1, [0, 1],
  "1 gives fully visible key blocks a loop of their own without masking code, 0 tests each block in one loop.">;
def Knob_ListBlocks : Knob<"listBlocks", "list-blocks", 0, [0],
  "1 evaluates the mask in kernels of its own, which list the key blocks that each query block attends to, and visits those alone; 0 visits what follows from the mask's comparisons of positions.", [1]>;
def Knob_TileOrder : EnumKnob<"tileOrder", "tile-order", "TileOrder",
  [I32EnumCase<"Ascending", 0, "ascending">, I32EnumCase<"Descending", 1, "descending">, I32EnumCase<"AcrossHeads", 2, "across-heads">],
  "Order in which query blocks start: first to last in each head, or of packed sequences in all heads side by side, last to first (longest first under a causal mask), or the last ones of all heads first, in sections of heads whose keys and values fit the cache.", [], "descending">;

def Knob_SplitKeys : Knob<"splitK", "split-k", 1, [1, 2, 4, 8, 16, 32],
  "Workgroups that share the keys of a query tile: each visits its part of their blocks, and a kernel behind them merges what they have found. 0 gives all workgroups that the chip holds at once equal shares of the blocks of all tiles, whatever lengths the batches have (stream-K).", [0, 3, 5, 6, 10, 12, 24, 64, 128]>;
def Knob_MergeParts : EnumKnob<"merge", "merge", "MergeParts",
  [I32EnumCase<"Kernel", 0, "kernel">, I32EnumCase<"Last", 1, "last">],
  "Who merges what the workgroups that share keys have found: a kernel behind them, or of each query tile the last workgroup, in the same launch. Bits are equal.">;
def Knob_OutputWarpsN : Knob<"warpsN", "warps-n", 1, [1, 2, 4],
  "Warps, or warpgroups where these multiply together, that share the columns of the output: each computes all scores of its rows, or where p-in-registers is 0, one more of num-warps does so for them. For rows that are longer than the registers of one.">;

defvar attentionSizes = [
  ProblemSize<"batch", "Batch size">,
  ProblemSize<"heads", "Number of query heads">,
  ProblemSize<"kv-heads", "Number of key and value heads">,
  ProblemSize<"seq-q", "Number of queries">,
  ProblemSize<"seq-k", "Number of keys">
];

def Knobs_Attention : KnobSet<"attention", "Attention", [
  Knob_BlockM, Knob_BlockN, Knob_NumWarps, Knob_MmaWarps, Knob_ProducerWarps, Knob_QStages, Knob_KStages,
  Knob_VStages, Knob_QInRegisters, Knob_PInRegisters, Knob_OInShared, Knob_Overlap, Knob_Rescale,
  Knob_RescaleLate, Knob_ExpOnFma, Knob_SplitMasked, Knob_ListBlocks, Knob_Unroll, Knob_TileOrder, Knob_Persistent,
  Knob_WorkgroupsPerSm, Knob_Cluster, Knob_OutputWarpsN, Knob_SplitKeys, Knob_MergeParts, Knob_MmaSchedule,
  Knob_LateKeys, Knob_StrengthReduction, Knob_Assembler
], attentionSizes, "`attn.attention`">;

//===----------------------------------------------------------------------===//
// Gradients of attention
//
// One kernel, or two, sums the gradients of keys and values, each workgroup those of a
// block of keys over blocks of queries, and another one those of queries, each
// workgroup those of a block of queries over blocks of keys.
//===----------------------------------------------------------------------===//

def Knob_KVBlockM : Knob<"kvBlockM", "kv-block-m", 64, [16, 32, 64, 80, 96, 128],
  "Query rows visited by one step of the kernel of keys and values.">;
def Knob_KVBlockN : Knob<"kvBlockN", "kv-block-n", 64, [16, 32, 64, 96, 128, 192],
  "Key rows owned by one workgroup of that kernel.">;
def Knob_KVWarps : Knob<"kvWarps", "kv-warps", 4, [1, 2, 4, 8, 12],
  "Warps of one workgroup of that kernel that compute; its key rows are divided among them evenly.">;
def Knob_KVStages : Knob<"kvStages", "kv-stages", 2, [1, 2, 3],
  "Slots of the shared-memory rings that hold its blocks of queries and of output gradients.">;
def Knob_KVInRegisters : Knob<"kvInRegisters", "kv-in-registers", 1, [0, 1],
  "1 keeps its keys and values in registers for the whole loop, 0 reads them from shared memory at each step.">;
def Knob_KVWorkgroupsPerSm : Knob<"kvWorkgroupsPerSm", "kv-workgroups-per-sm", 1, [1, 2, 3],
  "Workgroups of that kernel that must fit on one SM at a time; bounds the registers of a thread.">;
def Knob_QBlockM : Knob<"qBlockM", "q-block-m", 64, [16, 32, 64, 128, 192],
  "Query rows owned by one workgroup of the kernel of queries.">;
def Knob_QBlockN : Knob<"qBlockN", "q-block-n", 64, [16, 32, 64, 80, 96, 128],
  "Key rows visited by one step of that kernel.">;
def Knob_QWarps : Knob<"qWarps", "q-warps", 4, [1, 2, 4, 8, 12],
  "Warps of one workgroup of that kernel that compute; its query rows are divided among them evenly.">;
def Knob_QKVStages : Knob<"qStages", "q-stages", 2, [1, 2, 3],
  "Slots of the shared-memory rings that hold its blocks of keys and of values.">;
def Knob_QRowsInRegisters : Knob<"qInRegisters", "q-in-registers", 1, [0, 1],
  "1 keeps its queries and output gradients in registers for the whole loop, 0 reads them from shared memory at each step.">;
def Knob_QWorkgroupsPerSm : Knob<"qWorkgroupsPerSm", "q-workgroups-per-sm", 1, [1, 2, 3],
  "Workgroups of that kernel that must fit on one SM at a time; bounds the registers of a thread.">;

def Knob_GradientForm : EnumKnob<"form", "form", "GradientForm",
  [I32EnumCase<"Split", 0, "split">, I32EnumCase<"Fused", 1, "fused">, I32EnumCase<"Apart", 2, "apart">,
   I32EnumCase<"Ordered", 3, "ordered">],
  "Whether a kernel of its own sums the gradients of queries, or the one that owns keys adds its part of them to memory, in no order: then nothing is computed twice, but sums may differ in their last bits from run to run. With ordered, it does so too, but tiles of keys come one after the other to each block of queries, so that sums have the same bits in every run. With apart, those of keys and those of values have kernels of their own as well, for heads whose sums together are too large for the registers.">;

def Knob_ScoresAhead : Knob<"scoresAhead", "scores-ahead", 0, [0, 1],
  "1 starts the product of the next step's scores at the end of a step, so that it runs while sums are stored and warps wait for each other.">;

def Knob_RoundLast : Knob<"roundLast", "round-last", 0, [0, 1],
  "Who rounds the gradients of queries that the fused form has added up in memory: with 0 a kernel behind it, with 1, of each head of keys, the last workgroup, in the same launch.">;

def Knob_ListVisited : Knob<"listBlocks", "list-blocks", 0, [0, 1],
  "1 evaluates the mask in kernels of its own, which list, for each block that a kernel owns, the blocks that it shows of what is visited, and visits those alone; 0 visits what follows from the mask's comparisons of positions. Chosen where the mask reads tensors at positions.">;

def Knobs_AttentionGrad : KnobSet<"attention_grad", "AttentionGrad", [
  Knob_GradientForm,
  Knob_KVBlockM, Knob_KVBlockN, Knob_KVWarps, Knob_KVStages, Knob_KVInRegisters, Knob_KVWorkgroupsPerSm,
  Knob_QBlockM, Knob_QBlockN, Knob_QWarps, Knob_QKVStages, Knob_QRowsInRegisters, Knob_QWorkgroupsPerSm,
  Knob_MmaWarps, Knob_ProducerWarps, Knob_SplitMasked, Knob_ScoresAhead, Knob_RoundLast, Knob_ListVisited,
  Knob_StrengthReduction, Knob_Assembler
], attentionSizes, "`attn.attention_grad`">;

//===----------------------------------------------------------------------===//
// Merges of parts of attention
//===----------------------------------------------------------------------===//

def Knobs_Merge : KnobSet<"merge", "Merge", [Knob_NumWarps], [
  ProblemSize<"batch", "Batch size">,
  ProblemSize<"heads", "Number of query heads">,
  ProblemSize<"seq-q", "Number of queries">
], "`attn.merge`">;

//===----------------------------------------------------------------------===//
// Operands of 8 bits
//===----------------------------------------------------------------------===//

def Knobs_Quantize : KnobSet<"quantize", "Quantize", [Knob_NumWarps], [
  ProblemSize<"batch", "Batch size">,
  ProblemSize<"heads", "Number of heads">,
  ProblemSize<"seq-q", "Number of rows of a head">
], "`attn.quantize`">;

//===----------------------------------------------------------------------===//
// New rows of a cache in pages
//===----------------------------------------------------------------------===//

// Sets have the order of these names, in which attention is the first one.
def Knobs_PagedAppend : KnobSet<"append", "Append", [Knob_NumWarps], [
  ProblemSize<"tokens", "Number of tokens whose rows are appended">,
  ProblemSize<"heads", "Number of heads">,
  ProblemSize<"pages", "Number of pages of the pool">
], "`attn.append`">;

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

def Knob_TileM : Knob<"blockM", "block-m", 128, [16, 32, 64, 128, 192, 256],
  "Rows of a block of the result, which a workgroup, or in ping-pong a warpgroup, computes at a time.">;
def Knob_TileN : Knob<"blockN", "block-n", 64, [16, 32, 48, 64, 96, 128, 160, 192, 256],
  "Columns of such a block, of each contraction.">;
def Knob_TileK : Knob<"blockK", "block-k", 32, [32, 64, 128],
  "Terms of a sum that one step of the main loop multiplies.">;
def Knob_WarpsN : Knob<"warpsN", "warps-n", 1, [1, 2, 4],
  "Warps, or warpgroups where these multiply together, that share the columns of a block; all others share its rows.">;
def Knob_Stages : Knob<"stages", "stages", 2, [1, 2, 3, 4, 5, 6, 8],
  "Slots of the shared-memory rings of both operands.">;
def Knob_Raster : EnumKnob<"raster", "raster", "Raster",
  [I32EnumCase<"AlongM", 0, "along-m">, I32EnumCase<"AlongN", 1, "along-n">],
  "Whether blocks that start one after the other run down the rows, or along the columns, of a group.">;
def Knob_RasterGroup : Knob<"rasterGroup", "raster-group", 8, [1, 4, 8, 16, 22],
  "Rows of blocks (columns with along-n) of a group, which is computed before the next one: its operands stay in the cache.">;
def Knob_Consumers : EnumKnob<"consumers", "consumers", "Consumers",
  [I32EnumCase<"Cooperative", 0, "cooperative">, I32EnumCase<"PingPong", 1, "ping-pong">],
  "Whether all warpgroups of a workgroup compute a block together, or in ping-pong each one blocks of its own by turns: one then has its epilogue while another one multiplies.">;
def Knob_MatmulCluster : Knob<"cluster", "cluster", 1, [1, 2],
  "Workgroups of one cluster, which take neighbouring blocks and share what they load of the operand that these have in common.">;
def Knob_ClusterAlong : EnumKnob<"clusterAlong", "cluster-along", "ClusterAlong",
  [I32EnumCase<"M", 0, "m">, I32EnumCase<"N", 1, "n">],
  "Along which dimension the blocks of a cluster are neighbours: along m they share the right operand, along n the left one.">;
def Knob_SplitK : Knob<"splitK", "split-k", 1, [1, 2, 4, 8, 16],
  "Workgroups that share the terms of a block's sums: each multiplies its part of them, and the last one adds what the others have.">;
def Knob_ResultPath : EnumKnob<"resultPath", "result-path", "ResultPath",
  [I32EnumCase<"Registers", 0, "registers">, I32EnumCase<"Shared", 1, "shared">],
  "How the result leaves: threads store it from registers, or the copy engine stores it from a buffer in shared memory.">;

def Knobs_Matmul : KnobSet<"matmul", "Matmul", [
  Knob_TileM, Knob_TileN, Knob_TileK, Knob_NumWarps, Knob_WarpsN, Knob_MmaWarps, Knob_ProducerWarps, Knob_Consumers, Knob_Stages,
  Knob_Raster, Knob_RasterGroup, Knob_MatmulCluster, Knob_ClusterAlong, Knob_SplitK, Knob_ResultPath,
  Knob_Persistent, Knob_WorkgroupsPerSm
], [
  ProblemSize<"batch", "Batch size">,
  ProblemSize<"m", "Rows of the result">,
  ProblemSize<"n", "Columns of the result">,
  ProblemSize<"k", "Terms of a sum">
], "matmuls of `linalg`, with what is fused into them">;

// All of them, in the order of their names.
defvar allKnobSets = !instances<KnobSet>();

#endif // ATTUNE_SCHEDULE_KNOBS_TD

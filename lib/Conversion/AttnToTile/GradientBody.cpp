// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of gradients are one loop. A workgroup owns a tile of rows, of
// keys or of queries, and visits blocks of the others:
//
//              owns keys                 owns queries
//   S  =       key * query^T             query * key^T
//   dP =       value * output_grad^T     output_grad * value^T
//   P  = exp2(S * unit - lse * log2(e))
//   dS = P * (dP - deltas)
//   sums +=    P * output_grad,          dS * key
//              dS * query
//
// Kernels that own keys and are apart have one of their sums each.
//
// So a tile of scores that owns keys is the transpose of one that owns queries,
// weights and their gradients stay in the registers in which they are computed,
// and log-sum-exps and deltas run along the columns.

#include "GradientBody.h"
#include "GradientBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

SmallVector<tensor::ExtractOp, 1>
GradientBuilder::findTiles(tile::TargetAttr target) {
  SmallVector<tensor::ExtractOp, 1> found;
  for (auto [read, tile] :
       llvm::zip_equal(findRegionTiles(op), getRegionTiles(op)))
    if (takesRegionTile(tile, op.getScheduleAttr(), kernel, target))
      found.push_back(read);
  return found;
}

void GradientBuilder::planLoop(scf::ForOp loop) {
  if (op.getScheduleAttr().getSplitMasked())
    loop->setAttr(tile::TileDialect::kSplitAttrName, b.getUnitAttr());
  loop->setAttr(tile::TileDialect::kDeferWaitsAttrName, b.getUnitAttr());
  if (op.getScheduleAttr().getScoresAhead())
    loop->setAttr(tile::TileDialect::kIssueAheadAttrName, b.getUnitAttr());
}

Value GradientBuilder::getVisitedBytes(const TileCounts &counts) {
  int64_t bits = op.getElementType().getIntOrFloatBitWidth();
  int64_t rowBytes = (padded.qk + padded.v) * bits / 8;
  if (!ownsKeys)
    return b.createOrFold<arith::MulIOp>(seqK, constant(b, rowBytes));
  if (kernel.addsQueries)
    rowBytes += padded.qk * sizeof(float);
  Value ofHead = b.createOrFold<arith::MulIOp>(seqQ, constant(b, rowBytes));
  Value heads = size(operands.query, op.getHeadPos());
  return b.createOrFold<arith::MulIOp>(
      ofHead, b.createOrFold<arith::DivUIOp>(heads, counts.headsKV));
}

Value GradientBuilder::findBatch(Value tile, Value size) {
  auto load = [&](Value buffer, Value place) -> Value {
    return memref::LoadOp::create(b, buffer, place);
  };
  Value starts = ownsKeys ? operands.keyStarts : operands.queryStarts;
  PackedRows packed;
  if (starts) {
    packed = findPackedRows(b, starts, size, kernel.owned, tile);
    batch = packed.batch;
    tile = packed.tile;
    afterOwned = packed.after;
  }
  // Of packed rows behind the last batch, findPackedRows() knows the place.
  auto find = [&](MaskDim dim, Value ofStarts, Value lengths, Value all) {
    bool isFound = packed.first && dim == kernel.owns;
    attn::BatchRows rows =
        attn::getBatchRows(b, isFound ? Value() : ofStarts, lengths, batch,
                           isFound ? packed.room : all, load);
    if (isFound)
      rows.first = packed.first;
    return rows;
  };
  queries =
      find(MaskDim::Query, operands.queryStarts, operands.queryLengths, seqQ);
  keys = find(MaskDim::Key, operands.keyStarts, operands.keyLengths, seqK);
  seqQ = queries.length;
  seqK = keys.length;
  for (Region *region : {&op.getScore(), &op.getMask()})
    if (!region->empty())
      cloneOfArgument(b, attn::getBatchArgument(*region), batch, captures);
  return tile;
}

void GradientBuilder::locate() {
  seqQ = boundSize(b, size(operands.query, op.getSeqPos()),
                   attn::getQueryFacts(op));
  seqK =
      boundSize(b, size(operands.key, op.getSeqPos()), attn::getKeyFacts(op));
  Value length = ownsKeys ? seqK : seqQ;
  Value headsKV = size(operands.key, op.getHeadPos());
  Value tiles =
      b.createOrFold<arith::CeilDivUIOp>(length, constant(b, kernel.owned));
  if (Value starts = ownsKeys ? operands.keyStarts : operands.queryStarts)
    // As many as findPackedRows() may number.
    tiles = b.createOrFold<arith::AddIOp>(
        tiles, b.createOrFold<memref::DimOp>(starts, 0));
  bool countsKeys = ownsKeys && op.hasLengths();
  TileCounts counts{
      tiles, ownsKeys ? headsKV : size(operands.query, op.getHeadPos()),
      headsKV,
      size(countsKeys ? operands.key : operands.query, op.getBatchPos())};
  Value number = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  bool bySection = op.hasMask() || kernel.addsInOrder;
  if (!bySection) {
    Value ofHeads = b.createOrFold<arith::MulIOp>(counts.tiles, counts.headsQ);
    number = dealToParts(b, number,
                         b.createOrFold<arith::MulIOp>(ofHeads, counts.batches),
                         cache);
  }
  // Under a causal mask the first keys and the last queries have most to do:
  // those of many heads come first, as long as what they visit stays in the
  // device's cache.
  bool batchesFirst =
      !tileReads.empty() && llvm::all_of(tileReads, isOfAllBatches);
  QueryTile tile =
      bySection ? orderBySection(b, number, counts, getVisitedBytes(counts),
                                 cache, /*lastFirst=*/!ownsKeys)
                : orderByHead(b, number, counts, /*lastFirst=*/!ownsKeys,
                              batchesFirst);
  batch = tile.batch;
  numTiles = counts.tiles;
  headOwned = tile.headQ;
  headKV = tile.headKV;
  if (op.hasLengths()) {
    tile.tile = findBatch(tile.tile, length);
    length = ownsKeys ? seqK : seqQ;
    MaskDim visits = ownsKeys ? MaskDim::Query : MaskDim::Key;
    if (isByBoxes() && hasEnd(visits)) {
      lastBox.emplace(b, getRows(visits).length, kernel.visited);
      readsAtVisited = findReadsAt(visits);
    }
  }
  ownTile = tile.tile;
  firstOwned = arith::MulIOp::create(b, ownTile, constant(b, kernel.owned));
  Value after = arith::AddIOp::create(b, firstOwned, constant(b, kernel.owned));
  // Where tiles take turns, what a whole one would visit, for that is what
  // takeTurn() counts.
  if (!kernel.addsInOrder)
    after = arith::MinSIOp::create(b, after, length);
  lastOwned = arith::SubIOp::create(b, after, constant(b, 1));
  leastOwned = firstOwned;
  if (!hasEnd(kernel.owns))
    return;
  // Rows behind the last one visit nothing.
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, firstOwned, length);
  Value &visited = ownsKeys ? seqQ : seqK;
  visited = arith::SelectOp::create(b, exists, visited, constant(b, 0));
  if (!kernel.addsQueries)
    return;
  // What is behind the last row would be multiplied by 0, and may be NaN.
  Value back =
      LastBox(b, length, kernel.owned).getBack(b, b.getLoc(), firstOwned);
  back = arith::SelectOp::create(b, exists, back, constant(b, 0));
  firstOwned = arith::SubIOp::create(b, firstOwned, back);
  readsAtOwned = findReadsAt(kernel.owns);
}

Value GradientBuilder::loadShifts(int64_t rows, Value first) {
  Value shifts = loadOwnNumbers(rows, operands.shifts, first);
  // The products of a query that does not exist are 0, and so is what its
  // weights add, unless a score region makes them infinite.
  if (!op.hasScore() || (ownsKeys && lastBox))
    return shifts;
  return b.map(
      cast<TileType>(shifts.getType()), shifts,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value query = arith::AddIOp::create(inner, loc, first, args[1]);
        Value exists = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::slt, query, seqQ);
        return arith::SelectOp::create(inner, loc, exists, args[0],
                                       constantF32(inner, loc, -kInfinity));
      });
}

Value GradientBuilder::loadDeltas(int64_t rows, Value first) {
  return loadOwnNumbers(rows, operands.deltas, first);
}

Value GradientBuilder::loadOwnNumbers(int64_t rows, Value buffer, Value first) {
  if (ownsKeys && stagesNumbers(op.getScheduleAttr(), kernel)) {
    auto [copy, place] = operands.findNumbers(b, getBatch(MaskDim::Query),
                                              getPlace(MaskDim::Query, first));
    return createLoad(b, TileType::get({rows}, b.getF32Type()),
                      viewNumbers(b, buffer, copy, /*head=*/Value()),
                      {headQ, place}, kernel.stages);
  }
  if (!hasEnd(MaskDim::Query))
    return loadNumbers(b, rows, viewNumbers(b, buffer, batch, headQ), first);
  // Those of queries that do not exist are 0, as theirs are.
  Value numbers = viewRowNumbers(
      b, buffer, operands.findNumbers(b, getBatch(MaskDim::Query)).first, headQ,
      /*heads=*/1, getPlace(MaskDim::Query, queries.length),
      /*isPacked=*/true);
  return loadNumbers(b, rows, numbers, getPlace(MaskDim::Query, first));
}

Value GradientBuilder::multiplyByKeys(Value grads) {
  auto type = TileType::get({kernel.visited, padded.qk}, b.getF32Type());
  if (operands.sumsLayout)
    type = type.withLayout(operands.sumsLayout);
  return tile::MmaOp::create(
      b, type, grads, ownedRows, b.fill(type, 0),
      /*transpose_lhs=*/true,
      /*transpose_rhs=*/false, tile::MmaScope::Warpgroup,
      countGroupsAlongColumns(kernel, kernel.visited, atom),
      /*lhs_through_shared=*/true, tile::MmaAtomAttr());
}

// Those who visit a block of queries take turns in the order of their tiles.
// Nobody waits for ever: tiles of a head have ascending numbers in the grid
// (orderBySection), chips start workgroups in the order of these, and a
// workgroup goes through heads, and blocks of a head, in one order. So of those
// that have not ended, the one with the lowest number waits for nobody: all
// whose turns come before its own have lower numbers, and have passed on. Tiles
// of packed keys ascend through the sequences, so that it is true of each.
//
// Blocks are visited from the last one on. Under a causal mask the last ones
// are those that all tiles visit, and the first tile, which has most to do, is
// where the others follow it: from the first block on, each would wait for it
// at the diagonal.
//
// A box that ends with the last query is known by the queries that no other box
// has. It adds 0 to those before, which changes nothing, whoever's turn it is.
tile::OrderedOp GradientBuilder::takeTurn(Value first) {
  Value last = arith::AddIOp::create(b, first, constant(b, kernel.visited - 1));
  KernelInputs known = operands;
  known.captures = captures;
  // A tile visits a block just where the block visits the tile: legality asks
  // for masks of which that is so.
  std::unique_ptr<VisitedBlocks> visiting =
      makeVisitedBlocks(b, op, known, kernel.owned,
                        {MaskDim::Query, batch, headQ, first, last, seqK});
  auto subtract = [&](Value from) {
    return b.createOrFold<arith::SubIOp>(from, visiting->begin);
  };
  auto add = [&](Value number, Value of, Value next) {
    return b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::MulIOp>(number, of), next);
  };
  Value rows = constant(b, kernel.visited);
  Value block = b.createOrFold<arith::DivUIOp>(first, rows);
  Value blocks = b.createOrFold<arith::CeilDivUIOp>(
      size(operands.query, op.getSeqPos()), rows);
  if (Value starts = operands.queryStarts) {
    // The blocks of a sequence have numbers as its tiles in findPackedRows().
    blocks = b.createOrFold<arith::AddIOp>(
        blocks, b.createOrFold<memref::DimOp>(starts, 0));
    Value before = b.createOrFold<arith::AddIOp>(
        batch, b.createOrFold<arith::DivUIOp>(queries.first, rows));
    block = b.createOrFold<arith::AddIOp>(before, block);
  }
  Value head = add(getBatch(MaskDim::Query),
                   size(operands.query, op.getHeadPos()), headQ);
  Value place = add(head, blocks, block);
  return tile::OrderedOp::create(b, operands.turns, place, subtract(ownTile),
                                 subtract(visiting->end),
                                 b.getStringAttr(WarpBudget::kStoringRole));
}

void GradientBuilder::addToQueries(Value part, Value first) {
  OpBuilder::InsertionGuard guard(b);
  if (kernel.addsInOrder) {
    tile::OrderedOp ordered = takeTurn(lastBox ? leastVisited : first);
    b.createBlock(&ordered.getBody());
  }
  bool byThreads = operands.sumsLayout != nullptr;
  auto store = tile::StoreOp::create(
      b, part, visitedSums,
      ValueRange{operands.findSums(b, getPlace(MaskDim::Query, first)),
                 constant(b, 0)},
      /*accumulate=*/true,
      byThreads ? tile::StorePath::Direct : tile::StorePath::Buffer);
  store.setByThreads(byThreads);
  if (slots.sums == 0)
    return;
  store.setStages(slots.sums);
  if (!kernel.addsInOrder)
    store.setRole(WarpBudget::kStoringRole);
}

Sums GradientBuilder::step(VisitedBlocks &blocks, Value block, Sums sums) {
  Value first = blocks.getFirst(b, block);
  if (lastBox) {
    leastVisited = first;
    first =
        arith::SubIOp::create(b, first, lastBox->getBack(b, b.getLoc(), first));
  }
  MaskDim dim = ownsKeys ? MaskDim::Query : MaskDim::Key;
  // Both products come first: one runs while weights are made of the other.
  Value rows =
      load(kernel.visited, padded.qk, visitedRows, dim, first, kernel.stages);
  tiles.load(b, kernel.owned, kernel.visited, firstOwned, first);
  Value zero = b.fill(scoreType, 0);
  Value products = multiply(ownedRows, rows, zero, /*transposeRhs=*/true);
  Value values =
      load(kernel.visited, padded.v, visitedValues, dim, first, kernel.stages);
  Value weightGrads;
  if (kernel.sumsOwned)
    weightGrads = multiply(ownedValues, values, zero, /*transposeRhs=*/true);
  // Numbers of columns are many, and are read when they are needed. Where
  // scores are there at once, the wait for deltas keeps the exponentials in
  // front of that for the other product, under which they then run: the
  // assembler moves them behind it as far as the block reaches.
  auto getDeltas = [&] {
    return ownsKeys ? loadDeltas(kernel.visited, first) : ownedDeltas;
  };
  bool isAhead = op.getScheduleAttr().getScoresAhead();
  Value shifts = ownsKeys ? loadShifts(kernel.visited, first) : ownedShifts;
  Value deltas = isAhead || !kernel.sumsOwned ? Value() : getDeltas();
  Value weights =
      makeWeights(makeScores(products, blocks, block, first), shifts, first);
  if (isAhead && kernel.sumsOwned)
    deltas = getDeltas();
  auto sumValues = [&] {
    sums.back() = multiply(takeKept(weights), values, sums.back(),
                           /*transposeRhs=*/false);
  };
  // Weights that are written to shared memory leave registers, and what they
  // are multiplied with runs while gradients of scores are made.
  bool isEarly = kernel.sumsValues && sharesScores(kernel, atom);
  if (isEarly)
    sumValues();
  Value grads;
  if (kernel.sumsOwned)
    grads = makeScoreGrads(products, weights, weightGrads, deltas, first);
  addTiles(products, weights, weightGrads, deltas, first);
  if (kernel.sumsValues && !isEarly)
    sumValues();
  // Asked for before what runs while it is added.
  Value ofQueries = kernel.addsQueries ? multiplyByKeys(grads) : Value();
  if (kernel.sumsOwned)
    sums.front() = multiply(grads, rows, sums.front(), /*transposeRhs=*/false);
  if (ofQueries)
    addToQueries(ofQueries, first);
  return sums;
}

Sums GradientBuilder::visitHead(Value head, Sums sums) {
  headQ = head;
  visitedRows = ownsKeys ? view(operands.query, MaskDim::Query, headQ)
                         : view(operands.key, MaskDim::Key, headKV);
  visitedValues = ownsKeys ? view(operands.outputGrad, MaskDim::Query, headQ)
                           : view(operands.value, MaskDim::Key, headKV);
  if (kernel.addsQueries)
    visitedSums = viewHeads(b, kQuerySumsOrder, operands.querySums,
                            getBatch(MaskDim::Query), headQ);
  tiles.enterTile(b, captures, batch, headQ);
  addedTiles.clear();
  for (auto [tensor, sums] : operands.tensorGrads)
    for (tensor::ExtractOp read : tileReads)
      if (read.getTensor() == tensor &&
          read->getParentRegion() == &op.getScore())
        addedTiles.emplace_back(read, tiles.view(b, read, sums));
  KernelInputs known = operands;
  known.captures = captures;
  std::unique_ptr<VisitedBlocks> blocks =
      makeVisitedBlocks(b, op, known, kernel.visited,
                        {kernel.owns, batch, headQ, leastOwned, lastOwned,
                         ownsKeys ? seqQ : seqK});
  if (kernel.addsInOrder)
    blocks->reverse(b);
  auto loop = scf::ForOp::create(b, blocks->begin, blocks->end, constant(b, 1),
                                 ValueRange(sums));
  planLoop(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Sums next =
      step(*blocks, loop.getInductionVar(), Sums(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, ValueRange(next));
  return Sums(loop.getResults());
}

void GradientBuilder::finish(Value sums, Value gradient, double factor) {
  if (!gradient)
    return;
  MaskDim dim = kernel.owns;
  if (hasEnd(dim))
    sums = b.map(
        cast<TileType>(sums.getType()), sums,
        [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          Value row = arith::AddIOp::create(inner, loc, firstOwned, args[1]);
          Value exists = arith::CmpIOp::create(
              inner, loc, arith::CmpIPredicate::slt, row, getRows(dim).length);
          return arith::SelectOp::create(inner, loc, exists, args[0],
                                         constantF32(inner, loc, 0));
        });
  Value scaled = scaleToOperand(b, sums, op.getElementType(), factor);
  Value rows = viewHeads(b, op.getOrder(), gradient, getBatch(dim), headOwned);
  if (afterOwned)
    rows = limitRows(b, rows, afterOwned);
  auto store = [&](Value tile, Value view, Value row) {
    tile::StoreOp::create(b, tile, view, ValueRange{row, constant(b, 0)},
                          /*accumulate=*/false, tile::StorePath::Direct);
  };
  if (!movesOwned())
    return store(scaled, rows, getPlace(dim, firstOwned));
  // Those before are another tile's.
  Value own = dropRows(b, rows, getPlace(dim, leastOwned));
  Value back = arith::SubIOp::create(b, firstOwned, leastOwned);
  store(scaled, own, back);
  if (!op.getKeyLengths())
    return;
  // A tile that starts earlier does not reach those behind the last row, which
  // are stored as 0 where it would have started.
  Value length = getRows(dim).length;
  Value moves =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, back, constant(b, 0));
  Value place = arith::SelectOp::create(
      b, moves, arith::SubIOp::create(b, leastOwned, length),
      constant(b, -kernel.owned));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(op.getElementType()));
  store(tile::FillOp::create(b, scaled.getType(), zero),
        dropRows(b, rows, getPlace(dim, length)), place);
}

Sums GradientBuilder::forEachHead(Sums sums,
                                  function_ref<Sums(Value, Sums)> body) {
  int64_t headsQ = op.getHeadsQ();
  if (ShapedType::isStatic(headsQ) && headsQ == op.getHeadsKV())
    return body(headOwned, sums);
  Value group =
      b.createOrFold<arith::DivUIOp>(size(operands.query, op.getHeadPos()),
                                     size(operands.key, op.getHeadPos()));
  Value first = b.createOrFold<arith::MulIOp>(headOwned, group);
  Value after = b.createOrFold<arith::AddIOp>(first, group);
  auto loop =
      scf::ForOp::create(b, first, after, constant(b, 1), ValueRange(sums));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Sums next = body(loop.getInductionVar(), Sums(loop.getRegionIterArgs()));
  if (!sums.empty())
    scf::YieldOp::create(b, ValueRange(next));
  return Sums(loop.getResults());
}

void GradientBuilder::roundQueries() {
  Value heads = size(operands.key, op.getHeadPos());
  Value place = b.createOrFold<arith::AddIOp>(
      b.createOrFold<arith::MulIOp>(batch, heads), headOwned);
  Value isLast =
      tile::JoinOp::create(b, b.getI1Type(), operands.counters, place, numTiles,
                           /*offset=*/IntegerAttr());
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  // Of a warp, as many as hide the time that a load takes.
  constexpr int64_t kElements = 4096;
  int64_t rows =
      operands.sumsLayout
          ? kRowBlock
          : kernel.warps * std::max<int64_t>(kElements / padded.qk, 1);
  forEachHead({}, [&](Value head, Sums) {
    Value sums = viewHeads(b, kQuerySumsOrder, operands.querySums, batch, head),
          grads = viewHeads(b, op.getOrder(), operands.queryGrad, batch, head);
    auto loop = scf::ForOp::create(b, constant(b, 0), seqQ, constant(b, rows));
    OpBuilder::InsertionGuard inLoop(b);
    b.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar();
    buildQueryRounding(b, op, sums, operands.findSums(b, first), grads, first,
                       rows, padded.qk, operands.sumsLayout);
    return Sums();
  });
}

void GradientBuilder::build() {
  dropout = readDropout(b, op, operands);
  if (dropout)
    headsQ = size(operands.query, op.getHeadPos());
  locate();
  auto makeZeros = [&](int64_t columns) {
    return b.fill(TileType::get({kernel.owned, columns}, b.getF32Type()), 0);
  };
  Sums sums;
  if (kernel.sumsOwned)
    sums.push_back(makeZeros(padded.qk));
  if (kernel.sumsValues)
    sums.push_back(makeZeros(padded.v));
  double scale = op.getEffectiveScale();
  if (!ownsKeys) {
    headQ = headOwned;
    ownedRows =
        loadOwned(padded.qk, view(operands.query, MaskDim::Query, headQ));
    ownedValues =
        loadOwned(padded.v, view(operands.outputGrad, MaskDim::Query, headQ));
    ownedShifts = loadShifts(kernel.owned, firstOwned);
    ownedDeltas = loadDeltas(kernel.owned, firstOwned);
    finish(visitHead(headOwned, sums).front(), operands.queryGrad, scale);
    return;
  }
  ownedRows = loadOwned(padded.qk, view(operands.key, MaskDim::Key, headOwned));
  if (kernel.sumsOwned)
    ownedValues =
        loadOwned(padded.v, view(operands.value, MaskDim::Key, headOwned));
  sums = forEachHead(
      sums, [&](Value head, Sums before) { return visitHead(head, before); });
  finish(sums.front(), operands.keyGrad, scale);
  finish(sums.back(), operands.valueGrad,
         dropout ? attn::Dropout::getScale(op) : 1);
  if (kernel.roundsQueries)
    roundQueries();
}

void attune::buildGradientBody(OpBuilder &builder, attn::AttentionGradOp op,
                               const GradientOperands &operands,
                               const GradientKernel &kernel,
                               tile::MmaAtomAttr atom,
                               tile::TargetAttr target) {
  GradientBuilder(builder, op, operands, kernel, atom, target).build();
}

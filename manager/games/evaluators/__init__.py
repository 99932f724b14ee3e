"""How cards are ranked for each bet: one vocabulary, one evaluator per module."""

from manager.games.evaluators.vocabulary import EVALUATORS, EvaluatorInfo

__all__ = ["EVALUATORS", "EvaluatorInfo"]
